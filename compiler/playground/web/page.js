// The page: an editor, the compiler as WebAssembly, and its results. Must not depend on OpenCL C, except for the colors.
"use strict";

const $ = (id) => document.getElementById(id);
const source = $("source");
let kiln;
let view = "output";
let marks = [];

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

const WORDS = "break|case|const|continue|default|do|else|enum|for|goto|if|inline|return|sizeof|static|struct|switch|typedef|union|volatile|while|kernel|__kernel|global|__global|local|__local|constant|__constant|private|__private|generic|restrict|read_only|write_only|read_write";
const TOKENS = new RegExp([
    "(?<c>//[^\\n]*|/\\*[^]*?(?:\\*/|$))", "(?<s>\"(?:\\\\.|[^\"\\n\\\\])*\"?|'(?:\\\\.|[^'\\n\\\\])*'?)", "(?<p>^[ \\t]*#[^\\n]*)",
    `\\b(?<k>${WORDS})\\b`, "\\b(?<t>void|bool|size_t|u?(?:char|short|int|long)\\d*|(?:half|float|double)\\d*|atomic_\\w+|image\\w+_t|sampler_t|event_t)\\b",
    "\\b(?<n>0[xX][\\da-fA-F]+\\w*|\\d[\\w.]*)\\b",
].join("|"), "gm");
const escaped = (text) => text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);

/** Shows the colors of the source and the numbers of its lines. */
function paint() {
    const text = source.value;
    let html = "", from = 0;
    for (const match of text.matchAll(TOKENS)) {
        const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
        html += `${escaped(text.slice(from, match.index))}<span class="${kind}">${escaped(match[0])}</span>`;
        from = match.index + match[0].length;
    }
    $("colors").innerHTML = `${html}${escaped(text.slice(from))}\n`;
    const lines = text.split("\n").map((_, index) => {
        const mark = marks.find((it) => it.line === index + 1);
        return mark ? `<span class="${mark.severity}" title="${escaped(mark.message).replaceAll('"', "&#34;")}">${index + 1}</span>` : index + 1;
    });
    $("lines").innerHTML = lines.join("\n");
}

function show({ report = "", diagnostics = [], error, undefined: behavior, line, output = "", text, picture }) {
    marks = [...diagnostics];
    if (line) marks.push({ line, severity: "error", message: behavior });
    $("problems").textContent = [report, behavior, error].filter(Boolean).join("\n");
    $("output").textContent = text ?? output;
    const canvas = $("picture");
    canvas.hidden = !picture;
    if (picture) {
        [canvas.width, canvas.height] = [picture.width, picture.height];
        const pixels = new ImageData(Uint8ClampedArray.from(picture.pixels), picture.width, picture.height);
        canvas.getContext("2d").putImageData(pixels, 0, 0);
    }
    paint();
}

async function run() {
    $("state").textContent = "Running…";
    // Let the browser show the state first.
    await new Promise((done) => setTimeout(done, 10));
    const begin = performance.now();
    const code = source.value;
    const answer = await ask(view === "output" ? { action: "run", source: code } : { action: "assembly", environment: view, source: code });
    show(answer);
    $("state").textContent = `${Math.round(performance.now() - begin)} ms`;
    document.body.dataset.ran = String(Number(document.body.dataset.ran ?? 0) + 1);
}

let waiting;
function edited() {
    marks = [];
    paint();
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
        const answer = await ask({ action: "check", source: source.value });
        marks = answer.diagnostics ?? [];
        $("problems").textContent = answer.report ?? answer.error ?? "";
        paint();
        $("state").textContent = marks.length === 0 ? "No problems" : `${marks.length} problems`;
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
    location.hash = `source=${await packed(source.value)}`;
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    $("state").textContent = "The link is in the address bar";
}

async function load() {
    const shared = /^#source=([\w-]+)$/.exec(location.hash);
    source.value = shared ? await unpacked(shared[1]).catch(() => EXAMPLES[0].source) : EXAMPLES[0].source;
    paint();
}

for (const [index, { name }] of EXAMPLES.entries()) $("examples").add(new Option(name, index));
$("examples").addEventListener("change", (event) => {
    source.value = EXAMPLES[event.target.value].source;
    edited();
    run();
});
source.addEventListener("input", edited);
source.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        run();
    } else if (event.key === "Tab" && !event.shiftKey) {
        event.preventDefault();
        document.execCommand("insertText", false, "    ");
    }
});
$("run").addEventListener("click", run);
$("share").addEventListener("click", share);
$("std").addEventListener("change", edited);
$("format").addEventListener("click", async () => {
    source.value = (await ask({ action: "format", source: source.value })).text ?? source.value;
    edited();
});
for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.addEventListener("click", () => {
        view = tab.dataset.view;
        for (const other of document.querySelectorAll("[role=tab]")) other.setAttribute("aria-selected", String(other === tab));
        run();
    });
}
addEventListener("hashchange", load);
load().then(run);
