// Drives the tasks and the test view with the real `kiln`, without an editor: `vscode` is a stub with the part of the API that they
// use. `KILN` is the path of the program.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";

// No driver is needed.
process.env.KILN_DEVICE = "reference";
const require = createRequire(import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

const folder = mkdtempSync(join(tmpdir(), "kiln-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name, text) => writeFileSync(join(folder, name), text);
const kernel = (body) => `kernel void k(global int *out)\n{\n    ${body}\n}\n`;
const launch = "// kiln run --global 4 --arg buf:int[4]=0 --check out=1\n";
write("good.cl", launch + kernel("out[get_global_id(0)] = 1;"));
write("wrong.cl", launch + kernel("out[get_global_id(0)] = 2;"));
write("race.cl", launch + kernel("out[0] = get_global_id(0);"));
write("plain.cl", kernel("out[0] = missing;"));

class Uri {
    constructor(path) {
        this.scheme = "file";
        this.fsPath = path;
    }
    static file = (path) => new Uri(path);
    toString = () => `file://${this.fsPath}`;
}

class Items extends Map {
    add = (item) => this.set(item.id, item);
    replace = (items) => (this.clear(), items.forEach(this.add));
    [Symbol.iterator] = () => this.entries();
}

const record = (...names) =>
    class {
        constructor(...values) {
            names.forEach((name, index) => (this[name] = values[index]));
        }
    };

const results = [];
const controller = {
    items: new Items(),
    profiles: [],
    createRunProfile(label, kind, run) {
        this.profiles.push({ label, kind, run });
    },
    createTestItem: (id, label, uri) => ({ id, label, uri }),
    createTestRun: () => ({
        enqueued: () => {},
        started: () => {},
        skipped: () => {},
        appendOutput: () => {},
        passed: (item) => results.push([item.label, "passed"]),
        failed: (item, messages) => results.push([item.label, messages[0].message, messages[0].location.range.line]),
        end: () => results.sort(),
    }),
};

const sessions = [];
const on = () => ({});
const vscode = {
    Uri,
    Range: record("line"),
    Position: record("line", "character"),
    Location: record("uri", "range"),
    TestMessage: record("message"),
    ProcessExecution: record("process", "args"),
    Task: record("definition", "scope", "name", "source", "execution", "problemMatchers"),
    TaskScope: { Workspace: 2 },
    TaskGroup: { Build: "build", Test: "test" },
    TestRunProfileKind: { Run: 1, Debug: 2 },
    tests: { createTestController: () => controller },
    debug: { startDebugging: (_, configuration) => sessions.push(configuration) },
    window: { activeTextEditor: { document: { languageId: "opencl" } } },
    workspace: {
        asRelativePath: (uri) => basename(uri.fsPath),
        createFileSystemWatcher: () => ({ onDidCreate: on, onDidChange: on, onDidDelete: on }),
        findFiles: async () => readdirSync(folder).map((name) => new Uri(join(folder, name))),
        fs: { readFile: async (uri) => readFileSync(uri.fsPath) },
        getConfiguration: () => ({ get: (name) => ({ path: process.env.KILN, flags: ["-Wall"] })[name] }),
        getWorkspaceFolder: () => ({ uri: { fsPath: folder } }),
    },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const { testView } = require("../dist/test/launches.js");
const { Tasks } = require("../dist/test/tasks.js");

const token = { isCancellationRequested: false, onCancellationRequested: on };

test("sources with launches are tests, which pass or fail at a line", async () => {
    testView();
    await controller.resolveHandler(undefined);
    assert.deepEqual([...controller.items.values()].map((item) => item.label).sort(), ["good.cl", "race.cl", "wrong.cl"]);
    const [run, races, debug] = controller.profiles;
    await run.run({}, token);
    const [good, race, wrong] = results.splice(0);
    assert.deepEqual(good, ["good.cl", "passed"]);
    assert.match(race[1], /another work-item .*\[data-race\]/);
    assert.equal(race[2], 3);
    assert.match(wrong[1], /check failed: out\[0\] is 2, not 1/);
    const one = [...controller.items.values()].filter((item) => item.label === "good.cl");
    await races.run({ include: one }, token);
    assert.deepEqual(results, [["good.cl", "passed"]]);
    await debug.run({ include: one });
    assert.equal(sessions[0].program, join(folder, "good.cl"));
});

test("tasks run the program, and the problem matcher reads what it prints", () => {
    const tasks = new Tasks();
    const offered = tasks.provideTasks();
    const { properties } = manifest.contributes.taskDefinitions[0];
    for (const task of offered) {
        assert.ok(properties.command.enum.includes(task.definition.command));
        assert.deepEqual(task.problemMatchers, `$${manifest.contributes.problemMatchers[0].name}`);
    }
    const { regexp, ...groups } = manifest.contributes.problemMatchers[0].pattern;
    const problems = (command, name) => {
        const definition = { type: "kiln", command, files: [join(folder, name)] };
        const { process, args } = tasks.resolveTask({ definition, name: command }).execution;
        const lines = spawnSync(process, args, { encoding: "utf8" }).stderr.split("\n");
        const found = lines.map((line) => new RegExp(regexp).exec(line)).filter((match) => match !== null);
        return found.map((match) => [basename(match[groups.file]), match[groups.line], match[groups.severity], match[groups.message]]);
    };
    assert.deepEqual(problems("check", "plain.cl"), [["plain.cl", "3", "error", "`missing` is not declared"]]);
    assert.deepEqual(problems("check", "good.cl"), []);
    const [race] = problems("run", "race.cl");
    assert.deepEqual(race.slice(0, 3), ["race.cl", "4", "error"]);
});

test("the sources of the walkthrough compile", () => {
    for (const step of manifest.contributes.walkthroughs[0].steps) {
        const page = readFileSync(new URL(`../${step.media.markdown}`, import.meta.url), "utf8");
        for (const [, source] of page.matchAll(/```opencl\n(.*?)```/gs)) {
            write("step.cl", source);
            execFileSync(process.env.KILN, ["check", join(folder, "step.cl")]);
            if (source.includes("kiln run")) {
                execFileSync(process.env.KILN, ["run", join(folder, "step.cl")]);
            }
        }
    }
});
