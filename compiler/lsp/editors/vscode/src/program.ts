/**
 * The program `kiln`: the one of the settings, the one in the extension, or one in the usual places.
 */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";

/** The language that package.json declares. */
export const LANGUAGE = "opencl";
/** The section of the settings, which the server requests too. Also the type of tasks and debug sessions. */
export const SECTION = "kiln";

const BINARY = process.platform === "win32" ? "kiln.exe" : "kiln";

let bundled = "";

/** Sets the folder of the extension, which can contain the program. */
export function setExtensionFolder(folder: string): void {
    bundled = join(folder, "server", BINARY);
}

/** The path of the program, or its name if it was not found. `${workspaceFolder}` is the first folder. */
export function program(): string {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
    const path = vscode.workspace.getConfiguration(SECTION).get<string>("path") ?? "";
    if (path !== "" && path !== "kiln") {
        return path.replaceAll("${workspaceFolder}", folder);
    }
    // An editor started from the desktop does not have the shell's `PATH`.
    const cargo = join(process.env["CARGO_HOME"] ?? join(homedir(), ".cargo"), "bin");
    const folders = [...(process.env["PATH"] ?? "").split(delimiter), cargo].filter((each) => each !== "");
    return [bundled, ...folders.map((each) => join(each, BINARY))].find(existsSync) ?? "kiln";
}

/** The compiler options of the settings. */
export function flags(): string[] {
    return vscode.workspace.getConfiguration(SECTION).get<string[]>("flags") ?? [];
}

/** Saves and returns the source in the active editor. Shows a message if there is none. */
export async function activeSource(): Promise<vscode.TextDocument | undefined> {
    const source = vscode.window.activeTextEditor?.document;
    if (source?.languageId !== LANGUAGE || source.uri.scheme !== "file") {
        await vscode.window.showInformationMessage("This is for a source of OpenCL C on disk.");
        return undefined;
    }
    await source.save();
    return source;
}
