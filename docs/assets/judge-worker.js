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
  const bytes = async (name) => {
    const response = await stored(kept, files + name);
    const parts = [];
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      self.postMessage({ loaded: (loaded += value.length) / total });
    }
    return new Blob(parts);
  };
  const [wasm, memory, archive, standard] = await Promise.all([
    bytes("pyodide.asm.wasm.gz.bin").then(unpacked),
    bytes("snapshot.gz.bin").then(unpacked).then((response) => response.arrayBuffer()),
    bytes("judge.zip").then((blob) => blob.arrayBuffer()),
    bytes("python_stdlib.zip"),
  ]);
  const local = { "pyodide.asm.wasm": wasm, "python_stdlib.zip": new Response(standard) };
  const real = self.fetch.bind(self);
  self.fetch = (url, options) => local[String(url.url ?? url).split("/").pop()] ?? real(url, options);
  const { loadPyodide } = await import(`${files}pyodide.mjs`);
  const createPyodideModule = (settings) => roomy(files, settings, memory.byteLength);
  python = await loadPyodide({ indexURL: files, _loadSnapshot: memory, createPyodideModule });
  self.fetch = real;
  python.FS.writeFile("/lib/judge.zip", new Uint8Array(archive));
  judged = python.runPython("judge.judged");
  self.postMessage({ providers: manifest.providers });
}

// Pyodide with enough memory for the snapshot, which then replaces all of it.
async function roomy(files, settings, size) {
  const made = await (await import(`${files}pyodide.asm.mjs`)).default(settings);
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

async function stored(kept, url) {
  const found = await kept?.match(url);
  if (found) return found;
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  await kept?.put(url, response.clone()).catch(() => undefined); // a full disk is no reason to stop
  return response;
}

function unpacked(blob) {
  const stream = blob.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "content-type": "application/wasm" } });
}
