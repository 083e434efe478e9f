// Drives VS Code (npm's `code-server`) with Kiln's extension in Chromium, as a user does.
//
//   node vscode.mjs [code-server] [chromium] [screenshot.png]
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import { start } from "../../chromium.mjs";

const [server = "code-server", browser = "chromium", screenshot] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "kiln-vscode-"));
const project = join(scratch, "project");
mkdirSync(project);
const write = (name, text) => writeFileSync(join(project, name), text);
const read = (name) => readFileSync(join(project, name), "utf8");
const wrong = "memory_order_acquire";
const right = "memory_order_release";
write("flag.cl", `kernel void raise(global atomic_int *flag) {\n    atomic_store_explicit(flag, 1, ${wrong}, memory_scope_device);\n}\n`);
const launch = (check) => `// kiln run --global 4 --arg buf:int[4]=0 --check out=${check}\n`;
const kernel = (index) => `kernel void k(global int *out) {\n    out[${index}] = 1;\n}\n`;
write("good.cl", launch(1) + kernel("get_global_id(0)"));
write("bad.cl", launch(2) + kernel("get_global_id(0)"));
write("outside.cl", launch(1) + kernel("get_global_id(0) + 1"));

/** A port that nobody uses. */
const port = await new Promise((done) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
        const { port } = probe.address();
        probe.close(() => done(port));
    });
});
const address = `127.0.0.1:${port}`;
const code = spawn(server, ["--auth", "none", "--bind-addr", address, "--disable-telemetry", "--disable-update-check",
    "--disable-workspace-trust", "--disable-getting-started-override", project],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, KILN_DEVICE: "reference" }, detached: true });
let log = "";
for (const stream of [code.stdout, code.stderr]) stream.on("data", (bytes) => (log += bytes));

const { process: chromium, send, evaluate: evaluateIn } = start(browser, join(scratch, "chromium"));
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
let page;
const evaluate = (expression) => evaluateIn(expression, page);
const picture = async (file) => {
    const { data } = await send("Page.captureScreenshot", {}, page);
    writeFileSync(file, Buffer.from(data, "base64"));
};
/** Waits until a condition has a value that counts as true. */
const until = async (what, condition) => {
    for (let tries = 0; tries < 300; tries++) {
        const value = await condition();
        if (value) return value;
        await sleep(100);
    }
    if (screenshot) await picture(screenshot.replace(".png", "-failed.png"));
    assert.fail(`${what} does not come; the page says: ${await evaluate("document.body.innerText")}`);
};
const KEYS = { F1: 112, p: 80, s: 83 };
const press = async (key, modifiers = 0) => {
    const code = key.length === 1 ? `Key${key.toUpperCase()}` : key;
    const event = { key, code, windowsVirtualKeyCode: KEYS[key], modifiers };
    await send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...event }, page);
    await send("Input.dispatchKeyEvent", { type: "keyUp", ...event }, page);
};
const CONTROL = 2;
const type = (text) => send("Input.insertText", { text }, page);
/** The texts of the elements that a selector finds. */
const texts = (selector) => evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((it) => it.textContent.replaceAll("\\u00a0", " "))`);
/** Clicks the middle of the first element with this selector and text, when it has stopped moving. */
const click = async (selector, text) => {
    const find = `[...document.querySelectorAll(${JSON.stringify(selector)})].find((it) => it.textContent.replaceAll("\\u00a0", " ").includes(${JSON.stringify(text)}))`;
    let before;
    const place = await until(`\`${text}\` in ${selector}`, async () => {
        const now = await evaluate(`(() => { const it = ${find}?.getBoundingClientRect(); return it && [it.x + it.width / 2, it.y + it.height / 2]; })()`);
        const isSame = now && String(before) === String(now);
        before = now;
        return isSame && now;
    });
    for (const kind of ["mousePressed", "mouseReleased"]) {
        await send("Input.dispatchMouseEvent", { type: kind, x: place[0], y: place[1], button: "left", clickCount: 1 }, page);
    }
};
/** Types into the box for commands and files, and takes what it offers. */
const choose = async (text, shown) => {
    await until("the box", () => evaluate("document.querySelector('.quick-input-widget')?.style.display !== 'none' && document.activeElement?.closest('.quick-input-widget') !== null"));
    await type(text);
    await click(".quick-input-list .monaco-list-row", shown);
};
const command = async (title) => {
    await press("F1");
    await choose(title, title);
};
const open = async (name, place = "") => {
    await press("p", CONTROL);
    await choose(name + place, name);
    await until(`the editor of ${name}`, async () => (await texts(".tab.active"))[0]?.includes(name));
    await command("View: Focus Active Editor Group");
};
const problems = () => texts(".markers-panel .monaco-list-row");
const problem = (text) => until(`the problem \`${text}\``, async () => (await problems()).some((row) => row.includes(text)));
const step = (text) => console.log(text);

try {
    await until("the server", () => log.includes("HTTP server listening"));
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    page = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await send("Emulation.setDeviceMetricsOverride", { width: 1400, height: 900, deviceScaleFactor: 1, mobile: false }, page);
    await send("Page.navigate", { url: `http://${address}/?folder=${encodeURIComponent(project)}` }, page);
    await until("the workbench", () => evaluate("document.querySelector('.monaco-workbench .explorer-folders-view') !== null"));

    // The server is found, and reports while the editor is open.
    await open("flag.cl");
    await command("Problems: Focus on Problems View");
    await problem("a store cannot have acquire order");
    step("the diagnostic is in the problems");
    if (screenshot) await picture(screenshot);

    // The fix of the lamp.
    await open("flag.cl", ":2:40");
    await command("Quick Fix...");
    await click(".action-widget .monaco-list-row", right);
    await press("s", CONTROL);
    await until("the fix", () => read("flag.cl").includes(right) && !read("flag.cl").includes(wrong));
    await until("no problem", async () => !(await problems()).some((row) => row.includes("acquire")));
    step("the fix is applied");

    // The formatter.
    await command("Select All");
    await type("kernel void raise(global atomic_int*flag){atomic_store_explicit(flag,1,memory_order_release,memory_scope_device);}");
    await command("Format Document");
    await press("s", CONTROL);
    const formatted = "kernel void raise(global atomic_int *flag) {\n    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);\n}";
    await until("the formatted text", () => read("flag.cl").includes(formatted));
    step("the text is formatted");

    // The code lens runs a task; its problem matcher finds what only the launch can report.
    await open("outside.cl");
    await until("the code lenses", async () => {
        const all = await texts(".codelens-decoration a");
        return ["Run", "Check for races", "Show SPIR-V"].every((title) => all.includes(title));
    });
    await click(".codelens-decoration a", "Run");
    await until("a number of problems", async () => /[1-9]/.test(await texts("#status\\.problems")));
    await command("Problems: Focus on Problems View");
    await problem("writes 4 bytes outside of any object");
    step("the code lens runs the launch, and its problem is found");

    // A task of the palette.
    await command("Tasks: Run Task");
    await choose("kiln", "kiln");
    await choose("kiln: check", "kiln: check");
    await until("the task's terminal", async () => (await texts(".panel .action-item")).some((title) => title.includes("check")));
    step("the palette runs the task");

    // The test view lists the sources with launches, and runs them.
    await command("Testing: Focus on Test Explorer View");
    const tests = async () => evaluate("[...document.querySelectorAll('.test-explorer .monaco-list-row')].map((it) => it.ariaLabel)");
    await until("the tests", async () => (await tests()).length === 3);
    await command("Test: Run All Tests");
    const results = ["bad.cl (Failed)", "good.cl (Passed)", "outside.cl (Failed)"];
    await until("the results", async () => {
        const all = await tests();
        return results.every((result, index) => all[index]?.startsWith(result.slice(0, -1)));
    });
    step("the test view runs the launches: 1 passed, 2 failed");
    if (screenshot) await picture(screenshot.replace(".png", "-tests.png"));
} finally {
    // Both have processes of their own, which keep the pipes open.
    for (const { pid } of [chromium, code]) process.kill(-pid, "SIGKILL");
    for (const pipe of [code.stdout, code.stderr, chromium.stdio[3], chromium.stdio[4]]) pipe.destroy();
    await sleep(500);
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}
