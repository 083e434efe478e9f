// Bundles the page's scripts with the editor, and collects the licenses of the packages in the bundle.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const { metafile } = await build({
    entryPoints: ["page.mjs"],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    outfile: "page.js",
    metafile: true,
    logLevel: "warning",
});

const packages = new Set(Object.keys(metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]));
packages.delete(undefined);
const license = (name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
writeFileSync("licenses.txt", [...packages].sort().map(license).join(`\n${"-".repeat(72)}\n\n`));
