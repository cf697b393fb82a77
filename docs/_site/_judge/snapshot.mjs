// Starts Python with the rules once, and writes its memory to a file, so that the page need not start it again.
// node snapshot.mjs RUNTIME ARCHIVE SNAPSHOT EVIDENCE
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

async function main(runtime, archive, snapshot, evidence) {
  const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
  const env = { HOME: "/home/pyodide", PYTHONNODEBUGRANGES: "1" }; // no columns for tracebacks: nobody reads one here
  const python = await loadPyodide({ indexURL: `${runtime}/`, env, _makeSnapshot: true });
  python.FS.writeFile("/lib/judge.zip", new Uint8Array(readFileSync(archive)));
  python.globals.set("evidence", readFileSync(evidence, "utf-8"));
  python.runPython(`
import gc, json, sys
sys.path.insert(0, "/lib/judge.zip")
import judge
judge.ready(json.loads(evidence))
del evidence
gc.collect()
gc.freeze()  # a collection in the page looks only at what a verdict makes
`);
  writeFileSync(snapshot, python.makeMemorySnapshot());
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error.message); // Node would print Pyodide's source, which is one line
  process.exit(1);
});
