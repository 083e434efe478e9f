// The page: the editor, the compiler as WebAssembly, and its results.
import { editor, mark, offset, replace } from "./editor.mjs";
import { EXAMPLES } from "./examples.mjs";

const $ = (id) => document.getElementById(id);
let kiln;
let shown = "output";

/** Starts the compiler. A mistake in it stops the instance, so that the next request starts another one. */
async function start() {
    const module = await (start.module ??= WebAssembly.compileStreaming(fetch("kiln.wasm")).catch(async () =>
        // For servers that send WebAssembly with another type.
        WebAssembly.compile(await (await fetch("kiln.wasm")).arrayBuffer())));
    return (await WebAssembly.instantiate(module, {})).exports;
}

/** The compiler's answer to a request. */
async function ask(request) {
    kiln ??= await start();
    try {
        const bytes = new TextEncoder().encode(JSON.stringify({ std: $("std").value, ...request }));
        const at = kiln.kiln_allocate(bytes.length);
        new Uint8Array(kiln.memory.buffer, at, bytes.length).set(bytes);
        const answer = kiln.kiln_answer(at, bytes.length);
        kiln.kiln_free(at, bytes.length);
        const length = new DataView(kiln.memory.buffer).getUint32(answer, true);
        const text = new TextDecoder().decode(new Uint8Array(kiln.memory.buffer, answer + 4, length));
        kiln.kiln_free(answer, length + 4);
        return JSON.parse(text);
    } catch (error) {
        kiln = undefined;
        return { error: `The compiler has failed: ${error}` };
    }
}

const view = editor($("editor"), { ask: language, edited, run });
const source = () => view.state.doc.toString();

/** A request to the language server about the source; `undefined` if it has no answer. */
async function language(method, parameters) {
    return (await ask({ action: "language", method, parameters, source: source() })).result ?? undefined;
}

/** Adds to each diagnostic the fixes that the language server has for it. */
async function withFixes(diagnostics) {
    if (diagnostics.length === 0) return [];
    const whole = { start: { line: 0, character: 0 }, end: { line: view.state.doc.lines, character: 0 } };
    const actions = await language("textDocument/codeAction", { range: whole, context: { diagnostics: [], only: ["quickfix"] } });
    const fixes = (actions ?? []).map(({ title, diagnostics: [{ range }], edit }) => ({
        from: offset(view.state, range.start),
        title,
        edits: Object.values(edit.changes).flat(),
    }));
    return diagnostics.map((it) => ({ ...it, fixes: fixes.filter(({ from }) => from === it.from) }));
}

function show({ report = "", diagnostics = [], error, undefined: behavior, line, output = "", text, picture }) {
    mark(view, line ? [...diagnostics, { line, severity: "error", message: behavior }] : diagnostics);
    $("problems").textContent = [report, behavior, error].filter(Boolean).join("\n");
    $("output").textContent = text ?? output;
    const canvas = $("picture");
    canvas.hidden = !picture;
    if (picture) {
        [canvas.width, canvas.height] = [picture.width, picture.height];
        const pixels = new ImageData(Uint8ClampedArray.from(picture.pixels), picture.width, picture.height);
        canvas.getContext("2d").putImageData(pixels, 0, 0);
    }
}

let waiting;

async function run() {
    // The answer contains the diagnostics.
    clearTimeout(waiting);
    $("state").textContent = "Running…";
    // Let the browser show the state first.
    await new Promise((done) => setTimeout(done, 10));
    const begin = performance.now();
    const code = source();
    const answer = await ask(shown === "output" ? { action: "run", source: code } : { action: "assembly", environment: shown, source: code });
    // The marks of an older text would be at wrong places.
    if (code === source()) answer.diagnostics = await withFixes(answer.diagnostics ?? []);
    else answer.diagnostics = answer.line = undefined;
    show(answer);
    $("state").textContent = `${Math.round(performance.now() - begin)} ms`;
    document.body.dataset.ran = String(Number(document.body.dataset.ran ?? 0) + 1);
}

function edited() {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
        const code = source();
        const { diagnostics = [], report, error } = await ask({ action: "check", source: code });
        if (code !== source()) return;
        mark(view, await withFixes(diagnostics));
        $("problems").textContent = report ?? error ?? "";
        $("state").textContent = ["No problems", "1 problem"][diagnostics.length] ?? `${diagnostics.length} problems`;
    }, 150);
}

/** The source as text for a link: compressed, without characters that links change. */
async function packed(text) {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

async function share() {
    location.hash = `source=${await packed(source())}`;
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    $("state").textContent = "The link is in the address bar";
}

async function load() {
    const shared = /^#source=([\w-]+)$/.exec(location.hash);
    replace(view, shared ? await unpacked(shared[1]).catch(() => EXAMPLES[0].source) : EXAMPLES[0].source);
}

for (const [index, { name }] of EXAMPLES.entries()) $("examples").add(new Option(name, index));
$("examples").addEventListener("change", (event) => {
    replace(view, EXAMPLES[event.target.value].source);
    run();
});
$("run").addEventListener("click", run);
$("share").addEventListener("click", share);
$("std").addEventListener("change", edited);
$("format").addEventListener("click", async () => {
    const code = source();
    const { text } = await ask({ action: "format", source: code });
    if (text !== undefined && text !== code) replace(view, text);
});
for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.addEventListener("click", () => {
        shown = tab.dataset.view;
        for (const other of document.querySelectorAll("[role=tab]")) other.setAttribute("aria-selected", String(other === tab));
        run();
    });
}
addEventListener("hashchange", load);
load().then(run);
