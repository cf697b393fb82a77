// The fixtures of the format, with the replay that is expected of each.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Miss, openCassette } from "./reader.js";

const FOLDER = process.env.CASSETTE_FIXTURES ?? join(import.meta.dirname, "../../../harness/fixtures");
const names = readdirSync(FOLDER).filter((file) => file.endsWith(".replay.json")).map((file) => file.replace(".replay.json", ""));

const bytes = (value: any): Buffer => ("base64" in value ? Buffer.from(value.base64, "base64") : Buffer.from(value.body ?? ""));

assert.ok(names.length > 10);
for (const name of names) {
  test(name, async () => {
    const expected = JSON.parse(readFileSync(join(FOLDER, `${name}.replay.json`), "utf8"));
    const cassette = openCassette(join(FOLDER, `${name}.json`));
    for (const { request, answer } of expected.steps) {
      const sent = bytes(request);
      const asking = cassette.fetch(request.url, { method: request.method, headers: request.headers, ...(sent.length && { body: new Uint8Array(sent) }) });
      if (answer === undefined) await assert.rejects(asking, Miss);
      else if (answer.status === undefined) await assert.rejects(asking, TypeError);
      else await check(await asking, answer);
    }
    assert.deepEqual(cassette.unused(), expected.unused);
  });
}

async function check(response: Response, wanted: any): Promise<void> {
  assert.equal(response.status, wanted.status);
  assert.deepEqual([...response.headers], [...new Headers(wanted.headers)]);
  const chunks: Uint8Array[] = [];
  const read = async () => {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) chunks.push(chunk);
  };
  if (wanted.error) await assert.rejects(read, TypeError);
  else if (wanted.end === "closed") await assert.rejects(read, Miss);
  else await read();
  assert.deepEqual(Buffer.concat(chunks), bytes(wanted));
  if (wanted.chunks) assert.deepEqual(chunks.map((chunk) => chunk.length), wanted.chunks);
}
