/**
 * The test view: a source whose leading comment has launches (`kiln run …`) is a test. It passes if all of its launches do.
 */

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { SECTION, flags, program } from "./program";

const SOURCES = "**/*.{cl,ocl}";
const NOT_SOURCES = "**/{target,node_modules}/**";
const MOST = 5000;

/** A launch at the start of a line of a comment. */
const LAUNCH = /^[ \t]*(?:\/\/|\/\*|\*)?[ \t]*kiln run /m;
/** A diagnostic in gcc's format. */
const DIAGNOSTIC = /^(.+?):(\d+):(?:(\d+):)? (?:error|warning): (.*)$/gm;

/** Creates the test view. */
export function testView(): vscode.Disposable[] {
    const controller = vscode.tests.createTestController(SECTION, "Kiln: launches of kernels");
    const kinds = vscode.TestRunProfileKind;
    const add = (title: string, options: readonly string[], isDefault: boolean): vscode.TestRunProfile =>
        controller.createRunProfile(title, kinds.Run, (request, token) => run(controller, request, token, options), isDefault);
    add("Run", [], true);
    add("Check for races", ["--device", "reference"], false);
    controller.createRunProfile("Debug", kinds.Debug, (request) => debug(controller, request), true);
    const see = (uri: vscode.Uri): Promise<void> => update(controller, uri);
    controller.resolveHandler = async (item) => {
        const found = item === undefined ? await vscode.workspace.findFiles(SOURCES, NOT_SOURCES, MOST) : [];
        await Promise.all(found.map(see));
    };
    controller.refreshHandler = async () => {
        controller.items.replace([]);
        await controller.resolveHandler?.(undefined);
    };
    const watcher = vscode.workspace.createFileSystemWatcher(SOURCES);
    return [
        controller,
        watcher,
        watcher.onDidCreate(see),
        watcher.onDidChange(see),
        watcher.onDidDelete((uri) => controller.items.delete(uri.toString())),
    ];
}

/** Adds or removes the test of a source, depending on its current text. */
async function update(controller: vscode.TestController, uri: vscode.Uri): Promise<void> {
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    const launch = LAUNCH.exec(text);
    if (launch === null) {
        controller.items.delete(uri.toString());
        return;
    }
    const item = controller.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
    const line = text.slice(0, launch.index).split("\n").length - 1;
    item.range = new vscode.Range(line, 0, line, 0);
    controller.items.add(item);
}

/** The tests of a request: those that it includes, or else all, without those that it excludes. */
function chosen(controller: vscode.TestController, request: vscode.TestRunRequest): vscode.TestItem[] {
    const all = request.include ?? [...controller.items].map(([, item]) => item);
    return all.filter((item) => !(request.exclude ?? []).includes(item));
}

async function run(
    controller: vscode.TestController,
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
    options: readonly string[],
): Promise<void> {
    const results = controller.createTestRun(request);
    const items = chosen(controller, request);
    items.forEach((item) => results.enqueued(item));
    for (const item of items) {
        if (token.isCancellationRequested) {
            results.skipped(item);
            continue;
        }
        results.started(item);
        const begin = Date.now();
        const { isGood, printed } = await launches(item, token, options);
        results.appendOutput(printed.replace(/\r?\n/g, "\r\n"), undefined, item);
        if (isGood) {
            results.passed(item, Date.now() - begin);
        } else {
            results.failed(item, messages(item, printed), Date.now() - begin);
        }
    }
    results.end();
}

/** Runs the launches of a source. Returns their output. */
function launches(
    item: vscode.TestItem,
    token: vscode.CancellationToken,
    options: readonly string[],
): Promise<{ readonly isGood: boolean; readonly printed: string }> {
    const uri = item.uri as vscode.Uri;
    const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
    const words = ["run", "--diagnostic-format", "gcc", ...options, uri.fsPath];
    return new Promise((resolve) => {
        const settings = { maxBuffer: 64 << 20, ...(folder === undefined ? {} : { cwd: folder }) };
        const child = execFile(program(), words, settings, (error, stdout, stderr) => {
            const why = error !== null && stderr === "" ? error.message : "";
            resolve({ isGood: error === null, printed: stdout + stderr + why });
        });
        token.onCancellationRequested(() => child.kill());
    });
}

/** The errors and warnings at their lines, or else everything that was printed. */
function messages(item: vscode.TestItem, printed: string): vscode.TestMessage[] {
    const found = [...printed.matchAll(DIAGNOSTIC)].map(([, file, line, column, text]) => {
        const message = new vscode.TestMessage(text ?? "");
        const place = new vscode.Position(Number(line) - 1, Number(column ?? 1) - 1);
        message.location = new vscode.Location(vscode.Uri.file(file ?? ""), place);
        return message;
    });
    if (found.length > 0) {
        return found;
    }
    const message = new vscode.TestMessage(printed);
    if (item.uri !== undefined && item.range !== undefined) {
        message.location = new vscode.Location(item.uri, item.range);
    }
    return [message];
}

async function debug(controller: vscode.TestController, request: vscode.TestRunRequest): Promise<void> {
    const item = chosen(controller, request)[0];
    if (item?.uri !== undefined) {
        const folder = vscode.workspace.getWorkspaceFolder(item.uri);
        const name = `Debug ${item.label}`;
        const configuration = { type: SECTION, request: "launch", name, program: item.uri.fsPath, options: flags() };
        await vscode.debug.startDebugging(folder, configuration);
    }
}
