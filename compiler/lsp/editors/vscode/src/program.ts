/**
 * The program `kiln`: the one of the settings, the one in the extension, or one in the usual places.
 */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";

/** The language that package.json declares. */
export const LANGUAGE = "opencl";
/** The section of the settings, which the server asks for too. Also the type of tasks and debug sessions. */
export const SECTION = "kiln";

const BINARY = process.platform === "win32" ? "kiln.exe" : "kiln";

let bundled = "";

/** Tells where the extension is, which can contain the program. */
export function setExtensionFolder(folder: string): void {
    bundled = join(folder, "server", BINARY);
}

/** The path of the program, or its name if it is nowhere. `${workspaceFolder}` is the first folder. */
export function program(): string {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
    const path = vscode.workspace.getConfiguration(SECTION).get<string>("path") ?? "";
    if (path !== "" && path !== "kiln") {
        return path.replaceAll("${workspaceFolder}", folder);
    }
    // An editor that a desktop starts does not have the shell's `PATH`.
    const cargo = join(process.env["CARGO_HOME"] ?? join(homedir(), ".cargo"), "bin");
    const folders = [...(process.env["PATH"] ?? "").split(delimiter), cargo].filter((each) => each !== "");
    return [bundled, ...folders.map((each) => join(each, BINARY))].find(existsSync) ?? "kiln";
}

/** The compiler options of the settings. */
export function flags(): string[] {
    return vscode.workspace.getConfiguration(SECTION).get<string[]>("flags") ?? [];
}

/** The source in the active editor, saved; otherwise says that there is none. */
export async function activeSource(): Promise<vscode.TextDocument | undefined> {
    const source = vscode.window.activeTextEditor?.document;
    if (source?.languageId !== LANGUAGE || source.uri.scheme !== "file") {
        await vscode.window.showInformationMessage("This is for a source of OpenCL C on disk.");
        return undefined;
    }
    await source.save();
    return source;
}
