// A headless Chromium that a test drives by the DevTools protocol, over pipes: no port, and no package.
import { spawn } from "node:child_process";
import assert from "node:assert/strict";

/** Starts the browser with this folder for its profile. It has a process group of its own. */
export const start = (browser, profile) => {
    const process = spawn(browser, ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
        `--user-data-dir=${profile}`], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true });
    const answers = new Map();
    let received = "", last = 0;
    process.stdio[4].on("data", (bytes) => {
        const parts = (received + bytes).split("\0");
        received = parts.pop();
        for (const message of parts.map((part) => JSON.parse(part))) answers.get(message.id)?.(message);
    });
    /** Calls a method, of a page if there is a session. */
    const send = (method, params = {}, sessionId) => new Promise((done, fail) => {
        const id = ++last;
        answers.set(id, (message) => message.error ? fail(new Error(`${method}: ${message.error.message}`)) : done(message.result));
        process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
    /** The value of an expression in a page. */
    const evaluate = async (expression, sessionId) => {
        const options = { expression, awaitPromise: true, returnByValue: true };
        const { result, exceptionDetails } = await send("Runtime.evaluate", options, sessionId);
        assert.equal(exceptionDetails, undefined, `${expression}: ${JSON.stringify(exceptionDetails)}`);
        return result.value;
    };
    return { process, send, evaluate };
};
