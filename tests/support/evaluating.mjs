// Evaluates expressions in the scope of a module of normviz, for tests/support/javascript.py: `node evaluating.mjs ENTRY` reads the constants of the
// scripts as one line of JavaScript, and then one expression with its arguments a line. Node leaves the types out; nothing is bundled.

import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";

const DECLARED = /^(?:export (?:default )?)?(?:async )?(?:function\*?|class|const|let) ([\w$]+)/gm;
const EXPORTED = /^export (?:async )?(?:function\*?|class|const) ([\w$]+)/gm;
const names = (source, pattern) => [...source.matchAll(pattern)].map(([, name]) => name);
const loaded = [];

// A test may use every name of a module, also those that it does not export.
registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith(".ts")) return nextLoad(url, context);
    const source = stripTypeScriptTypes(readFileSync(new URL(url), "utf8")), exported = new Set(names(source, EXPORTED));
    loaded.push(url);
    return { format: "module", shortCircuit: true, source: `${source}\nexport { ${names(source, DECLARED).filter((name) => !exported.has(name)).join(", ")} };` };
  },
});

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
runInThisContext((await lines.next()).value);
await import(pathToFileURL(process.argv[2]).href);
const scope = Object.create(null);
for (const module of await Promise.all(loaded.map((url) => import(url))))
  for (const name of Object.keys(module)) Object.defineProperty(scope, name, { get: () => module[name], configurable: true }); // the entry is the last
for await (const line of lines) {
  const { expression, args } = JSON.parse(line);
  let result;
  try {
    result = { value: await new Function("scope", "args", `with (scope) return (${expression});`)(scope, args) };
  } catch (error) {
    result = { error: String(error.stack) };
  }
  process.stdout.write(JSON.stringify(result, (key, value) => (Number.isNaN(value) ? "gap" : value)) + "\n");
}
