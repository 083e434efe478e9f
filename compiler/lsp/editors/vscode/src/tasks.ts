/**
 * Tasks that run `kiln` on the source in the editor, or on the files that `tasks.json` names.
 */

import * as vscode from "vscode";
import { LANGUAGE, SECTION, flags, program } from "./program";

/** A task as `tasks.json` writes it; package.json describes the properties. */
interface Definition extends vscode.TaskDefinition {
    readonly command: string;
    readonly files?: readonly string[];
    readonly options?: readonly string[];
}

/** The tasks that are offered for the source in the editor. */
const OFFERED: readonly (readonly [title: string, command: string, group: vscode.TaskGroup])[] = [
    ["check", "check", vscode.TaskGroup.Build],
    ["compile", "compile", vscode.TaskGroup.Build],
    ["run the launches", "run", vscode.TaskGroup.Test],
];

export class Tasks implements vscode.TaskProvider {
    provideTasks(): vscode.Task[] {
        if (vscode.window.activeTextEditor?.document.languageId !== LANGUAGE) {
            return [];
        }
        return OFFERED.map(([title, command, group]) => {
            const made = task({ type: SECTION, command, files: ["${file}"] }, title, vscode.TaskScope.Workspace);
            made.group = group;
            return made;
        });
    }

    resolveTask(given: vscode.Task): vscode.Task {
        return task(given.definition as Definition, given.name, given.scope ?? vscode.TaskScope.Workspace);
    }
}

/** The task of a definition. Its diagnostics go to the problems of the editor. */
export function task(definition: Definition, title: string, scope: vscode.WorkspaceFolder | vscode.TaskScope): vscode.Task {
    const own = ["run", "litmus"].includes(definition.command) ? [] : flags();
    const words = [definition.command, "--diagnostic-format", "gcc", ...own, ...(definition.options ?? [])];
    const run = new vscode.ProcessExecution(program(), [...words, ...(definition.files ?? ["${file}"])]);
    return new vscode.Task(definition, scope as vscode.WorkspaceFolder, title, SECTION, run, "$kiln");
}
