// Drives the page in Chromium, as a user does: edit, mistake, fix, completion, description, run, picture, race, link.
//
//   node test.mjs target/playground [chromium] [screenshot.png]
import { createReadStream, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import assert from "node:assert/strict";
import { start } from "../../../testsuite/chromium.mjs";

const [folder, browser = "chromium", screenshot] = process.argv.slice(2);
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
const server = createServer((request, response) => {
    const path = request.url === "/" ? "index.html" : request.url.slice(1);
    if (!/^[\w.]+$/.test(path) || !existsSync(join(folder, path))) {
        response.writeHead(404).end();
        return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/plain" });
    createReadStream(join(folder, path)).pipe(response);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}/`;

const profile = mkdtempSync(join(tmpdir(), "kiln-playground-"));
const { process: chromium, send, evaluate: evaluateIn } = start(browser, profile);

const { targetId } = await send("Target.createTarget", { url: "about:blank" });
const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
const evaluate = (expression) => evaluateIn(expression, sessionId);
const until = async (expression) => {
    for (let tries = 0; tries < 600; tries++) {
        const value = await evaluate(expression);
        if (value) return value;
        await new Promise((done) => setTimeout(done, 100));
    }
    assert.fail(`it does not come to this: ${expression}; ${await evaluate("document.body.innerText")}`);
};
const text = (id) => evaluate(`document.getElementById("${id}").textContent`);
const key = async (name, code, modifiers = 0) => {
    const event = { key: name, code: name.length === 1 ? `Key${name.toUpperCase()}` : name, windowsVirtualKeyCode: code, modifiers };
    await send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...event }, sessionId);
    await send("Input.dispatchKeyEvent", { type: "keyUp", ...event }, sessionId);
};
const CONTROL = 2;
const typed = (text) => send("Input.insertText", { text }, sessionId);
const source = () => evaluate("[...document.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\\n')");
/** Replaces the source. */
const write = async (text) => {
    await evaluate("document.querySelector('.cm-content').focus()");
    await key("a", 65, CONTROL);
    await typed(text);
    await until(`document.querySelector('.cm-content').textContent === ${JSON.stringify(text.replaceAll("\n", ""))}`);
};
/** Moves the mouse to the middle of an element, if there is one, and clicks it if wanted. */
const point = async (selector, clicks = false) => {
    const found = await evaluate(`JSON.stringify(document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect())`);
    if (!found) return;
    const { left, top, width, height } = JSON.parse(found);
    const [x, y] = [left + width / 2, top + height / 2];
    await send("Input.dispatchMouseEvent", { type: "mouseMoved", x: x + 1, y }, sessionId);
    await send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y }, sessionId);
    if (!clicks) return;
    for (const type of ["mousePressed", "mouseReleased"]) await send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 }, sessionId);
};
const runs = () => evaluate("Number(document.body.dataset.ran ?? 0)");
const click = async (selector) => {
    const before = await runs();
    await evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
    return before;
};
const run = async (selector = "#run") => {
    const before = await click(selector);
    await until(`Number(document.body.dataset.ran) > ${before}`);
};
const example = async (name) => {
    const before = await runs();
    await evaluate(`{ const it = document.getElementById("examples"); it.selectedIndex = [...it.options].findIndex((option) => option.text === ${JSON.stringify(name)}); it.dispatchEvent(new Event("change")); }`);
    await until(`Number(document.body.dataset.ran) > ${before}`);
};

try {
    await send("Emulation.setDeviceMetricsOverride", { width: 1400, height: 800, deviceScaleFactor: 1, mobile: false }, sessionId);
    await send("Page.navigate", { url: address }, sessionId);
    await until("document.body?.dataset.ran === '1'");

    // The picture of the first example: the middle is in the set, the corner is not.
    const pixel = (x, y) => evaluate(`[...document.getElementById("picture").getContext("2d").getImageData(${x}, ${y}, 1, 1).data].join()`);
    assert.equal(await evaluate("document.getElementById('picture').hidden"), false);
    assert.deepEqual([await pixel(200, 100), await pixel(0, 0) === await pixel(200, 100)], ["0,0,255,255", false]);
    if (screenshot) {
        const { data } = await send("Page.captureScreenshot", {}, sessionId);
        writeFileSync(screenshot, Buffer.from(data, "base64"));
    }

    // A mistake while typing, and its fix.
    const program = (value) => `// kiln run --kernel k --global 4 --arg buf:int[4] --print out[0..4]\nkernel void k(global int *out)\n{\nint index = get_global_id(0);\nout[index] = ${value};\n}\n`;
    await write(program("indx"));
    await until("document.getElementById('problems').textContent.includes('`indx` is not declared')");
    assert.equal(await evaluate("document.querySelector('.cm-lintRange-error').textContent"), "indx");
    assert.equal(await evaluate("document.querySelectorAll('.cm-lint-marker-error').length"), 1);
    // On a busy machine, the tooltip can close before the click.
    for (let tries = 0; tries < 5 && (await source()).includes("indx"); tries++) {
        await point("#state");
        await point(".cm-lintRange-error");
        await until("document.querySelector('.cm-tooltip-lint .cm-diagnosticAction')?.textContent === 'Replace with `index`'");
        await point(".cm-tooltip-lint .cm-diagnosticAction", true);
    }
    await until("document.getElementById('problems').textContent === '' && document.getElementById('state').textContent === 'No problems'");
    assert.equal(await source(), program("index"));
    await run();
    assert.equal(await text("output"), "out[0..4] = 0 1 2 3\n");
    await evaluate("document.getElementById('format').click()");
    await until("document.querySelector('.cm-content').textContent.includes('*out) {')");
    // One step back.
    await evaluate("document.querySelector('.cm-content').focus()");
    await key("z", 90, CONTROL);
    await until("!document.querySelector('.cm-content').textContent.includes('*out) {')");

    // Completion, and the description of a name.
    await write("kernel void k(global int *out)\n{\nout[0] = get_gl");
    await typed("o");
    await until("[...document.querySelectorAll('.cm-tooltip-autocomplete li')].some((it) => it.textContent.startsWith('get_global_id'))");
    await key("Escape", 27);
    await write("kernel void k(global int *out)\n{\nbarrier(0);\n}\n");
    await until("document.getElementById('state').textContent !== ''");
    await evaluate("{ const range = document.createRange(); const line = document.querySelectorAll('.cm-line')[2]; range.setStart(line.firstChild, 1); range.setEnd(line.firstChild, 3); const mark = document.createElement('i'); const { left, top, width, height } = range.getBoundingClientRect(); mark.id = 'mark'; mark.style = `position:fixed;pointer-events:none;left:${left}px;top:${top}px;width:${width}px;height:${height}px`; document.body.append(mark); }");
    await point("#mark");
    await until("document.querySelector('.cm-tooltip .description')?.textContent.includes('barrier(')");
    await evaluate("document.getElementById('mark').remove()");

    // SPIR-V for both environments.
    await run("[data-view=vulkan]");
    assert.match(await text("output"), /OpEntryPoint GLCompute/);
    await run("[data-view=opencl]");
    assert.match(await text("output"), /OpEntryPoint Kernel/);
    await run("[data-view=output]");

    // Races, waiting work-groups, libraries, printf.
    await example("A data race");
    // The report stays: the check of the new source does not replace it.
    await new Promise((done) => setTimeout(done, 500));
    assert.match(await text("problems"), /\[data-race\]/);
    assert.equal(await evaluate("document.querySelector('.cm-lintRange-error').textContent.trim()"), "out[i] = next;");
    await example("A message between work-groups");
    assert.equal(await text("output"), "out[0..1] = 42\n");
    await example("A scan with <kiln/scan.h>");
    assert.equal(await text("output"), "out[0..8] = 0 1 3 6 10 15 21 28\n");
    await example("A mistake");
    assert.match(await text("problems"), /a store cannot have acquire order/);
    await example("printf");
    assert.match(await text("output"), /work-item 1 of group 1/);

    // A link has the source.
    await write(program("7"));
    await evaluate("document.getElementById('share').click()");
    const link = await until("location.hash.startsWith('#source=') && location.href");
    await send("Page.navigate", { url: "about:blank" }, sessionId);
    await send("Page.navigate", { url: link }, sessionId);
    await until("document.body?.dataset.ran === '1'");
    assert.equal(await source(), program("7"));
    assert.equal(await text("output"), "out[0..4] = 7 7 7 7\n");
    console.log("edit, mistake, fix, completion, description, run, picture, race, link: all as expected");
} finally {
    const ended = new Promise((done) => chromium.on("exit", done));
    // With its helpers, which write to the profile.
    process.kill(-chromium.pid, "SIGKILL");
    await ended;
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
}
