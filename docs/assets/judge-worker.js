// Python with the rules, in a worker. judge.js starts it from a blob, so that the page's security policy holds here, too.
"use strict";
let python, judged;
const LARGE = ["pyodide.asm.wasm.gz.bin", "snapshot.gz.bin", "judge.zip", "python_stdlib.zip"];

self.onmessage = async ({ data }) => {
  try {
    if (data.files) await start(data.files);
    else self.postMessage({ id: data.id, verdict: JSON.parse(judged(data.text, data.wire, data.provider, data.model)) });
  } catch (error) {
    self.postMessage({ id: data.id, failed: String(error.message ?? error).trim().split("\n").pop() });
  }
};

async function start(files) {
  const listed = fetch(`${files}manifest.json`, { cache: "no-cache" });
  const glue = import(`${files}pyodide.asm.mjs`), pyodide = import(`${files}pyodide.mjs`);
  // The files of the last visit are read while the server says whether they are the newest ones.
  const earlier = await lastVisit(), early = earlier && LARGE.map((name) => inCache(earlier.kept, files + name));
  const answer = await listed;
  if (!answer.ok) throw new Error("this copy of the site was built without it");
  const manifest = await answer.json();
  const same = earlier?.version === manifest.version;
  const kept = same ? earlier.kept : await cacheOf(manifest.version);
  const total = Object.values(manifest.sizes).reduce((sum, size) => sum + size, 0);
  let loaded = 0;
  const told = (count) => self.postMessage({ loaded: (loaded += count) / total });
  const bytes = (name) => stored(kept, files + name, told, same ? early[LARGE.indexOf(name)] : undefined);
  // The code is compiled while the rest is read.
  const compiled = bytes("pyodide.asm.wasm.gz.bin").then((code) => WebAssembly.compile(code));
  const memory = bytes("snapshot.gz.bin"), archive = bytes("judge.zip"), standard = bytes("python_stdlib.zip");
  const { loadPyodide } = await pyodide;
  // Pyodide starts beside the reading of the snapshot, which it only needs at its end.
  const snapshot = new Uint8Array(manifest.memory);
  const createPyodideModule = async (settings) => {
    const made = await roomy(await glue, settings, snapshot.length);
    unpack(await memory, snapshot);
    return made;
  };
  const restored = given({ "pyodide.asm.wasm": "", "python_stdlib.zip": await standard }, compiled);
  python = await loadPyodide({ indexURL: files, _loadSnapshot: snapshot, createPyodideModule });
  restored();
  python.FS.writeFile("/lib/judge.zip", new Uint8Array(await archive));
  judged = python.runPython("judge.judged");
  self.postMessage({ providers: manifest.providers });
  // The first verdict compiles what it runs. If there is no paste yet, this is done before there is one.
  setTimeout(() => judged('{"model": "gpt-4.1", "messages": []}', "", "", ""), 400);
}

// Writes the memory to its place: `build.py` leaves out the parts that are zero. The first number is the length of their list.
function unpack(packed, memory) {
  const length = new DataView(packed).getUint32(0, true);
  let at = 4 + length;
  for (const [start, end] of JSON.parse(new TextDecoder().decode(new Uint8Array(packed, 4, length)))) {
    memory.set(new Uint8Array(packed, at, end - start), start);
    at += end - start;
  }
}

// Gives Pyodide the files and the compiled code that are here already. Returns a function that ends this.
function given(local, compiled) {
  const { fetch } = self, { instantiateStreaming } = WebAssembly;
  self.fetch = async (url, options) => {
    const name = String(url.url ?? url).split("/").pop();
    return name in local ? new Response(local[name]) : fetch(url, options);
  };
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const module = await compiled;
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
  return () => { self.fetch = fetch; WebAssembly.instantiateStreaming = instantiateStreaming; };
}

// Pyodide with enough memory for the snapshot, which then replaces all of it.
async function roomy(glue, settings, size) {
  const made = await glue.default(settings);
  while (made.HEAP8.length < size) made._malloc(2 ** 22);
  return made;
}

// The cache of the last visit and its version, if there is one.
async function lastVisit() {
  try {
    const name = (await caches.keys()).find((each) => each.startsWith("judge-"));
    return name && { version: name.slice("judge-".length), kept: await caches.open(name) };
  } catch { return undefined; }
}

// The cache of this version. Those of earlier versions are deleted. Pages without a secure context have none.
async function cacheOf(version) {
  if (!self.caches) return undefined;
  try {
    const name = `judge-${version}`;
    const others = (await caches.keys()).filter((each) => each.startsWith("judge-") && each !== name);
    await Promise.all(others.map((each) => caches.delete(each)));
    return await caches.open(name);
  } catch { return undefined; }
}

// A file in a cache, if it is there.
const inCache = async (kept, url) => (await kept?.match(url))?.arrayBuffer();

// The content of a file, unpacked. It is kept unpacked, because that takes a third of the time of a later visit.
async function stored(kept, url, told, early) {
  const found = await (early ?? inCache(kept, url));
  if (found) return found;
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const counted = response.body.pipeThrough(new TransformStream({
    transform(part, out) { told(part.length); out.enqueue(part); },
  }));
  const content = await new Response(url.endsWith(".gz.bin") ? counted.pipeThrough(new DecompressionStream("gzip")) : counted).arrayBuffer();
  await kept?.put(url, new Response(content)).catch(() => undefined); // a full disk is no reason to stop
  return content;
}
