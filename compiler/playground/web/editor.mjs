// The editor: CodeMirror, with the compiler's diagnostics and the requests of the language server.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { clike } from "@codemirror/legacy-modes/mode/clike";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const words = (text) => Object.fromEntries(text.split(" ").map((word) => [word, true]));

/** Colors a directive up to its end or a comment. */
function directive(stream, state) {
    if (!state.startOfLine) return false;
    stream.match(/^(?:[^/]|\/(?![/*]))*/);
    state.tokenize = stream.eol() && stream.string.endsWith("\\") ? directive : null;
    return "meta";
}

const TYPES = /^(?:void|bool|size_t|ptrdiff_t|u?(?:char|short|int|long)\d*|(?:half|float|double)\d*|atomic_(?:int|uint|long|ulong|float|double|size_t|flag|intptr_t|uintptr_t|ptrdiff_t)|image\w+_t|sampler_t|event_t|queue_t|ndrange_t|memory_order|memory_scope)$/;

const opencl = clike({
    name: "opencl",
    keywords: words("break case const continue default do else enum for goto if inline return sizeof static struct switch typedef union volatile while kernel __kernel global __global local __local constant __constant private __private generic restrict read_only write_only read_write __attribute__"),
    types: (word) => TYPES.test(word),
    blockKeywords: words("case do else for if switch while struct enum union"),
    atoms: words("true false NULL"),
    hooks: { "#": directive },
});

const colors = HighlightStyle.define([
    { tag: [tags.keyword, tags.atom], class: "k" },
    { tag: [tags.typeName, tags.standard(tags.typeName)], class: "t" },
    { tag: tags.comment, class: "c" },
    { tag: tags.number, class: "n" },
    { tag: tags.string, class: "s" },
    { tag: tags.meta, class: "p" },
]);

/** The position of an offset, in the protocol's form. */
export function position(state, offset) {
    const line = state.doc.lineAt(offset);
    return { line: line.number - 1, character: offset - line.from };
}

/** The offset of a position in the protocol's form. */
export function offset(state, { line, character }) {
    const { from, to } = state.doc.line(Math.min(line + 1, state.doc.lines));
    return Math.min(from + character, to);
}

/** Markdown of the language server as elements: code blocks, inline code and paragraphs. */
function described(markdown) {
    const box = document.createElement("div");
    box.className = "description";
    for (const [, code, text] of markdown.matchAll(/```\w*\n([^]*?)\n```|((?:(?!```)[^])+)/g)) {
        if (code !== undefined) {
            box.append(Object.assign(document.createElement("pre"), { textContent: code }));
            continue;
        }
        for (const paragraph of text.split(/\n{2,}/).filter((it) => it.trim())) {
            // Sources are in italics.
            const source = /^\*([^*]*)\*$/.exec(paragraph.trim());
            if (source) {
                box.append(Object.assign(document.createElement("em"), { textContent: source[1] }));
                continue;
            }
            const p = document.createElement("p");
            for (const [index, part] of paragraph.trim().split("`").entries()) {
                p.append(index % 2 ? Object.assign(document.createElement("code"), { textContent: part }) : part.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
            }
            box.append(p);
        }
    }
    return box;
}

// The numbers of the protocol (CompletionItemKind), as CodeMirror's names.
const KINDS = { 2: "method", 3: "function", 5: "property", 6: "variable", 7: "class", 8: "interface", 9: "namespace", 10: "property", 13: "enum", 14: "keyword", 15: "text", 20: "constant", 21: "constant", 22: "type", 25: "type" };

/**
 * An editor in an element. `ask(method, parameters)` is a request to the language server, `edited` is called after each
 * change, and `run` by Ctrl+Enter.
 */
export function editor(parent, { ask, edited, run }) {
    const hover = hoverTooltip(async ({ state }, at) => {
        const found = await ask("textDocument/hover", { position: position(state, at) });
        if (!found?.contents) return null;
        const { range } = found;
        return {
            pos: range ? offset(state, range.start) : at,
            end: range ? offset(state, range.end) : at,
            create: () => ({ dom: described(found.contents.value) }),
        };
    });
    const complete = async ({ state, pos, explicit, matchBefore }) => {
        const word = /\w*$/.exec(state.sliceDoc(Math.max(0, pos - 100), pos))[0];
        const before = state.sliceDoc(pos - word.length - 1, pos - word.length);
        if (!explicit && !word && !/[.>(]/.test(before)) return null;
        const found = await ask("textDocument/completion", { position: position(state, pos) });
        const options = (found?.items ?? []).map((item) => ({
            label: item.label,
            apply: item.insertText ?? item.label,
            type: KINDS[item.kind],
            detail: item.detail,
            // The server sorts local names first, then those of the program.
            boost: { 1: 2, 2: 1 }[item.sortText?.[0]] ?? 0,
            info: item.documentation && (() => described(item.documentation.value ?? item.documentation)),
        }));
        return options.length === 0 ? null : { from: pos - word.length, options, validFor: /^\w*$/ };
    };
    return new EditorView({
        parent,
        extensions: [
            Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }])),
            lineNumbers(), highlightActiveLineGutter(), foldGutter(), lintGutter(), history(), drawSelection(),
            indentUnit.of("    "), EditorState.tabSize.of(4), indentOnInput(), bracketMatching(), closeBrackets(),
            highlightActiveLine(), highlightSelectionMatches(),
            StreamLanguage.define(opencl), syntaxHighlighting(colors),
            autocompletion({ override: [complete] }), hover,
            keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
            EditorView.contentAttributes.of({ "aria-label": "OpenCL C", spellcheck: "false" }),
            EditorView.updateListener.of((update) => update.docChanged && edited()),
        ],
    });
}

/** Replaces the text by another one, as one step that can be undone. */
export function replace(view, text) {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

/** Marks the diagnostics. One without an end marks its line. */
export function mark(view, marks) {
    const { doc } = view.state;
    view.dispatch(setDiagnostics(view.state, marks.map(({ from, to, line, severity, message, fixes = [] }) => {
        const whole = doc.line(Math.min(line, doc.lines));
        return {
            from: Math.min(from ?? whole.from, doc.length),
            to: Math.min(to ?? whole.to, doc.length),
            severity,
            message,
            actions: fixes.map(({ title, edits }) => ({
                name: title,
                apply: (view) => view.dispatch({
                    changes: edits.map(({ range, newText }) => ({
                        from: offset(view.state, range.start),
                        to: offset(view.state, range.end),
                        insert: newText,
                    })),
                }),
            })),
        };
    })));
}
