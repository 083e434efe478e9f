/**
 * The extension: starts `kiln lsp` and shows what other commands of `kiln` print. Only the server implements OpenCL C.
 */

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";
import { testView } from "./launches";
import { LANGUAGE, SECTION, activeSource, flags, program, setExtensionFolder } from "./program";
import { Tasks, task } from "./tasks";

/** Documents that `kiln` has printed. */
const PRINTED = "kiln-printed";

/** An output format of `kiln compile --emit`, and the file extension by which an editor recognizes it. */
interface Form {
    readonly command: string;
    readonly emit: string;
    readonly ending: string;
}

const FORMS: readonly Form[] = [
    { command: "kiln.assembly", emit: "asm", ending: "spvasm" },
    { command: "kiln.preprocessed", emit: "pp", ending: "cl" },
    { command: "kiln.interface", emit: "json", ending: "json" },
];

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
    setExtensionFolder(context.extensionPath);
    const output = vscode.window.createOutputChannel("Kiln");
    const printed = new Printed();
    context.subscriptions.push(
        output,
        vscode.workspace.registerTextDocumentContentProvider(PRINTED, printed),
        vscode.commands.registerCommand("kiln.restart", () => restart(output)),
        vscode.commands.registerCommand("kiln.output", () => output.show()),
        vscode.workspace.onDidSaveTextDocument((document) => printed.changed(document.uri)),
        vscode.workspace.onDidChangeConfiguration(async (event) => {
            if (event.affectsConfiguration("kiln.path")) {
                await restart(output);
            }
        }),
        vscode.commands.registerCommand("kiln.run", () => launch("Run", [])),
        vscode.commands.registerCommand("kiln.races", () => launch("Check for races", ["--device", "reference"])),
        vscode.commands.registerCommand("kiln.outcomes", () => launch("Show outcomes", [], "litmus")),
        vscode.debug.registerDebugAdapterDescriptorFactory(SECTION, {
            createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(program(), ["dap"]),
        }),
        vscode.debug.registerDebugConfigurationProvider(SECTION, { resolveDebugConfiguration: configuration }),
        vscode.tasks.registerTaskProvider(SECTION, new Tasks()),
        ...testView(),
        ...FORMS.map((form) => vscode.commands.registerCommand(form.command, () => show(form))),
    );
    await start(output);
}

export async function deactivate(): Promise<void> {
    await client?.dispose();
}

/** Starts the server. If that fails, shows what to do. */
async function start(output: vscode.OutputChannel): Promise<void> {
    const run = { command: program(), args: ["lsp"] };
    const server: ServerOptions = { run, debug: run };
    const options: LanguageClientOptions = {
        documentSelector: [{ language: LANGUAGE }],
        initializationOptions: vscode.workspace.getConfiguration(SECTION),
        synchronize: { configurationSection: SECTION },
        outputChannel: output,
    };
    client = new LanguageClient(SECTION, "Kiln", server, options);
    try {
        await client.start();
    } catch (error) {
        output.appendLine(`${run.command} lsp: ${String(error)}`);
        const settings = "Open Settings";
        const choice = await vscode.window.showErrorMessage(
            `The language server of Kiln does not start: is \`${run.command}\` installed?`,
            settings,
        );
        if (choice === settings) {
            await vscode.commands.executeCommand("workbench.action.openSettings", "kiln.path");
        }
    }
}

async function restart(output: vscode.OutputChannel): Promise<void> {
    const before = client;
    client = undefined;
    // A server that did not start cannot be stopped.
    await before?.dispose().catch((error: unknown) => output.appendLine(String(error)));
    await start(output);
}

/** Shows the source of the editor in another form, beside it. */
async function show(form: Form): Promise<void> {
    const source = await activeSource();
    if (source === undefined) {
        return;
    }
    const uri = vscode.Uri.from({ scheme: PRINTED, path: `${source.uri.path}.${form.ending}`, query: form.emit });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
}

/** Runs the launches in the leading comment of the editor's source, as a task. */
async function launch(title: string, options: readonly string[], command = "run"): Promise<void> {
    const source = await activeSource();
    if (source === undefined) {
        return;
    }
    const scope = vscode.workspace.getWorkspaceFolder(source.uri) ?? vscode.TaskScope.Workspace;
    const definition = { type: SECTION, command, files: [source.fileName], options };
    await vscode.tasks.executeTask(task(definition, title, scope));
}

/** Completes a debug configuration. Without one, the launches in the source's leading comment are debugged. */
function configuration(
    _folder: vscode.WorkspaceFolder | undefined,
    chosen: vscode.DebugConfiguration,
): vscode.DebugConfiguration | undefined {
    const source = vscode.window.activeTextEditor?.document;
    if (chosen.type === undefined && source?.languageId !== LANGUAGE) {
        return undefined;
    }
    return { type: SECTION, request: "launch", name: "Debug", program: "${file}", options: flags(), ...withoutEmpty(chosen) };
}

/** The keys of a configuration that have a value. */
function withoutEmpty(chosen: vscode.DebugConfiguration): Partial<vscode.DebugConfiguration> {
    return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined && value !== ""));
}

/** Provides the output of `kiln`, updated whenever the source is saved. */
class Printed implements vscode.TextDocumentContentProvider {
    private readonly changes = new vscode.EventEmitter<vscode.Uri>();
    readonly onDidChange = this.changes.event;

    changed(source: vscode.Uri): void {
        for (const document of vscode.workspace.textDocuments) {
            if (document.uri.scheme === PRINTED && sourceOf(document.uri) === source.fsPath) {
                this.changes.fire(document.uri);
            }
        }
    }

    provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
        const source = sourceOf(uri);
        const words = ["compile", "--emit", uri.query, "--diagnostic-format", "gcc", ...flags(), source, "-o", "-"];
        const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(source))?.uri.fsPath;
        return new Promise((resolve) => {
            const options = { maxBuffer: 64 << 20, ...(folder === undefined ? {} : { cwd: folder }) };
            execFile(program(), words, options, (error, stdout, stderr) => {
                resolve(error === null ? stdout : stderr === "" ? error.message : stderr);
            });
        });
    }
}

/** The source of a printed document. */
function sourceOf(uri: vscode.Uri): string {
    return vscode.Uri.file(uri.path.slice(0, uri.path.lastIndexOf("."))).fsPath;
}
