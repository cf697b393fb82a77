// Python with the rules, in a worker. The page starts it from a blob, so that the page's security policy holds here, too.
"use strict";
let python, judged;
const download = self.fetch.bind(self); // `given` takes the place of fetch
const CODE = "pyodide.asm.wasm.gz.bin", LARGE = [CODE, "snapshot.gz.bin", "judge.zip", "python_stdlib.zip"];
// The code is compiled while it is read.
const taken = (name, answer) => name === CODE ? WebAssembly.compileStreaming(answer) : answer.arrayBuffer();

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
  const earlier = await lastVisit(), early = earlier && LARGE.map((name) => inCache(earlier.kept, files, name));
  const answer = await listed;
  if (!answer.ok) throw new Error("this copy of the site was built without it");
  const manifest = await answer.json();
  const same = earlier?.version === manifest.version;
  const kept = same ? earlier.kept : await cacheOf(manifest.version);
  const total = Object.values(manifest.sizes).reduce((sum, size) => sum + size, 0);
  let loaded = 0;
  const told = (count) => self.postMessage({ loaded: (loaded += count) / total });
  const [compiled, memory, archive, standard] = LARGE.map(async (name, at) =>
    (same && await early[at]) || taken(name, await fetched(kept, files + name, told)));
  const { loadPyodide } = await pyodide;
  // Pyodide starts beside the reading of the snapshot. It gets its head alone, because `unpack` writes the memory to its place.
  const _loadSnapshot = new Uint8Array(manifest.head);
  const createPyodideModule = async (settings) => {
    const made = await (await glue).default(settings);
    unpack(await memory, made, _loadSnapshot);
    return made;
  };
  const restored = given({ "pyodide.asm.wasm": "", "python_stdlib.zip": standard }, compiled);
  python = await loadPyodide({ indexURL: files, _loadSnapshot, createPyodideModule });
  restored();
  python.FS.writeFile("/lib/judge.zip", new Uint8Array(await archive));
  judged = python.runPython("judge.judged");
  self.postMessage({ providers: manifest.providers });
  // The first verdict compiles what it runs. If there is no paste yet, this is done before there is one.
  setTimeout(() => judged('{"model": "gpt-4.1", "messages": []}', "", "", ""), 400);
}

// Makes the memory of a new Python large enough and replaces all of it. `build.py` packs the length of a list, the list, the
// head of the snapshot, and the parts of the memory that are in the list. The rest is zero.
function unpack(packed, made, head) {
  let at = 4 + new DataView(packed).getUint32(0, true), end = 0;
  const { size, parts } = JSON.parse(new TextDecoder().decode(new Uint8Array(packed, 4, at - 4)));
  while (made.HEAP8.length < size) made._malloc(size - made.HEAP8.length);
  const take = (length) => new Uint8Array(packed, (at += length) - length, length);
  head.set(take(head.length));
  for (const [start, next] of parts) {
    made.HEAPU8.fill(0, end, start).set(take(next - start), start);
    end = next;
  }
  made.HEAPU8.fill(0, end);
}

// Gives Pyodide the files and the compiled code that are here already. Returns a function that ends this.
function given(local, compiled) {
  const { fetch } = self, { instantiateStreaming } = WebAssembly;
  self.fetch = async (url, options) => {
    const name = String(url.url ?? url).split("/").pop();
    return name in local ? new Response(await local[name]) : fetch(url, options);
  };
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const module = await compiled;
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
  return () => { self.fetch = fetch; WebAssembly.instantiateStreaming = instantiateStreaming; };
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

// A file of the last visit, if it is there.
async function inCache(kept, files, name) {
  const found = await kept.match(files + name);
  return found && taken(name, found);
}

// The answer with a file, unpacked. It is kept unpacked, because that takes a third of the time of a later visit.
async function fetched(kept, url, told) {
  const response = await download(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const counted = response.body.pipeThrough(new TransformStream({
    transform(part, out) { told(part.length); out.enqueue(part); },
  }));
  const content = url.endsWith(".gz.bin") ? counted.pipeThrough(new DecompressionStream("gzip")) : counted;
  // A browser compiles only what has this type.
  const answer = new Response(content, { headers: { "content-type": url.endsWith(CODE) ? "application/wasm" : "application/octet-stream" } });
  kept?.put(url, answer.clone()).catch(() => undefined); // a full disk is no reason to stop
  return answer;
}
