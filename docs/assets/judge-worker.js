// Python with the rules, in a worker. judge.js starts it from a blob, so that the page's security policy holds here, too.
"use strict";
let python, judged;

self.onmessage = async ({ data }) => {
  try {
    if (data.files) await start(data.files);
    else self.postMessage({ id: data.id, verdict: JSON.parse(judged(data.text, data.wire, data.provider, data.model)) });
  } catch (error) {
    self.postMessage({ id: data.id, failed: String(error.message ?? error).trim().split("\n").pop() });
  }
};

async function start(files) {
  const listed = await fetch(`${files}manifest.json`, { cache: "no-cache" });
  if (!listed.ok) throw new Error("this copy of the site was built without it");
  const manifest = await listed.json();
  const kept = await cacheOf(manifest.version);
  const total = Object.values(manifest.sizes).reduce((sum, size) => sum + size, 0);
  let loaded = 0;
  const bytes = (name) => stored(kept, files + name, (count) => self.postMessage({ loaded: (loaded += count) / total }));
  // The code is compiled while the rest is read.
  const compiled = bytes("pyodide.asm.wasm.gz.bin").then((code) => WebAssembly.compile(code));
  const memory = bytes("snapshot.gz.bin"), archive = bytes("judge.zip"), standard = bytes("python_stdlib.zip");
  const glue = import(`${files}pyodide.asm.mjs`);
  const { loadPyodide } = await import(`${files}pyodide.mjs`);
  // Pyodide starts beside the reading of the snapshot, which it only needs at its end.
  const snapshot = new Uint8Array(manifest.memory);
  const createPyodideModule = async (settings) => {
    const made = await roomy(await glue, settings, snapshot.length);
    snapshot.set(new Uint8Array(await memory));
    return made;
  };
  const restored = given({ "pyodide.asm.wasm": "", "python_stdlib.zip": await standard }, compiled);
  python = await loadPyodide({ indexURL: files, _loadSnapshot: snapshot, createPyodideModule });
  restored();
  python.FS.writeFile("/lib/judge.zip", new Uint8Array(await archive));
  judged = python.runPython("judge.judged");
  self.postMessage({ providers: manifest.providers });
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

// The content of a file, unpacked. It is kept unpacked, because that takes a third of the time of a later visit.
async function stored(kept, url, told) {
  const found = await kept?.match(url);
  if (found) return found.arrayBuffer();
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const counted = response.body.pipeThrough(new TransformStream({
    transform(part, out) { told(part.length); out.enqueue(part); },
  }));
  const content = await new Response(url.endsWith(".gz.bin") ? counted.pipeThrough(new DecompressionStream("gzip")) : counted).arrayBuffer();
  await kept?.put(url, new Response(content)).catch(() => undefined); // a full disk is no reason to stop
  return content;
}
