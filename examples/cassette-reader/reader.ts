// Replays a cassette through `fetch`. The format is described in docs/recordings/cassette-format.md.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliDecompressSync, crc32, gunzipSync, inflateSync } from "node:zlib";

type Json = any; // what JSON.parse returns
type Headers_ = Record<string, string[]>;
interface Interaction {
  request: { method: string; uri: string; headers: Headers_; body: Json };
  response: { status: { code: number; message?: string | null }; headers: Headers_; body: Json; stream?: Json; error?: Json };
}

/** A request that is not in the cassette, or a stream that ends where its recording was closed. */
export class Miss extends Error {
  override name = "Miss";
}

export interface Cassette {
  fetch: typeof fetch;
  /** The places of the interactions that were not requested. */
  unused(): number[];
}

/** Opens a cassette. Throws if it is not of version 1, format 1. */
export function openCassette(path: string): Cassette {
  const value = JSON.parse(readFileSync(path, "utf8"));
  const ours = value.metadata?.ellmer_harness ?? {};
  if (value.version !== 1 || ours.format !== 1) throw new Error(`${path}: only version 1, format 1 is read`);
  const interactions: Interaction[] = value.interactions;
  const blobs = new Blobs(join(dirname(path), ours.blobs ?? "blobs"));
  const ignored: string[] = ours.not_compared ?? [];
  const keys = interactions.map(({ request }) => {
    const headers = Object.entries(request.headers).map(([name, values]): [string, string] => [name, values[0]]);
    return keyOf(request.method, request.uri, headers, bytesOf(request.body, blobs), ignored);
  });
  const played = new Set<number>();
  const play = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const body = Buffer.from(await request.arrayBuffer());
    const asked = keyOf(request.method, request.url, [...request.headers], body, ignored);
    const at = keys.findIndex((key, place) => !played.has(place) && sameKey(key, asked));
    if (at < 0 && isAboutSession(request.method, request.url)) return new Response(null, { status: 405 });
    if (at < 0) throw new Miss(`${request.method} ${request.url} is not in ${path}`);
    played.add(at);
    const numbers = [bytesOf(interactions[at].request.body, blobs), body].map((each) => rpc(each.toString())?.id);
    return answer(interactions[at].response, blobs, numbers);
  };
  const called = new Set(interactions.filter(({ request }) => request.method === "POST" && rpc(bytesOf(request.body, blobs).toString())).map(({ request }) => request.uri));
  const isAboutSession = (method: string, uri: string): boolean => ["GET", "DELETE"].includes(method) && called.has(uri);
  const isLeft = ({ request }: Interaction, at: number): boolean => !played.has(at) && !isAboutSession(request.method, request.uri);
  return { fetch: play as typeof fetch, unused: () => interactions.flatMap((each, at) => (isLeft(each, at) ? [at] : [])) };
}

// --- Which requests are the same -------------------------------------------------------------------------

const COMPARED = /^(content-type|range|[^x].*-version|[^x].*-beta)$/;
const MASKED = "REDACTED";
interface Key { head: string; parameters: [string, string][]; body: string }

function keyOf(method: string, uri: string, headers: [string, string][], body: Buffer, ignored: string[]): Key {
  const url = new URL(uri);
  const named = headers.map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const type = named.find(([name]) => name === "content-type")?.[1] ?? "";
  const counted = named
    .filter(([name]) => COMPARED.test(name) && !ignored.includes("headers"))
    .map(([name, value]) => `${name}: ${name === "content-type" ? value.split(";")[0].trim().toLowerCase() : value}`)
    .filter((line) => body.length > 0 || !line.startsWith("content-type: text/plain")) // fetch adds it to no body
    .sort();
  const parameters = ignored.includes("url") ? [] : [...url.searchParams].sort(byText);
  const address = ignored.includes("url") ? "" : `${url.protocol}//${url.host}${url.pathname}`;
  return { head: [method.toUpperCase(), address, ...counted].join("\n"), parameters, body: ignored.includes("body") ? "" : canonical(body, type) };
}

const byText = (one: unknown, other: unknown): number => (String(one) < String(other) ? -1 : 1);

function sameKey(recorded: Key, asked: Key): boolean {
  if (recorded.head !== asked.head || recorded.body !== asked.body) return false;
  if (recorded.parameters.length !== asked.parameters.length) return false;
  return recorded.parameters.every(([name, value], at) => name === asked.parameters[at][0] && (value === MASKED || value === asked.parameters[at][1]));
}

function canonical(body: Buffer, type: string): string {
  if (type.startsWith("application/x-www-form-urlencoded")) return JSON.stringify([...new URLSearchParams(body.toString())].sort(byText));
  try {
    return JSON.stringify(sorted(withoutNumber(JSON.parse(body.toString()))));
  } catch {
    return body.toString("latin1");
  }
}

/** A message of JSON-RPC, whose number tells requests apart that are under way, and nothing else. */
function rpc(text: string): Json {
  try {
    const value = JSON.parse(text);
    return value?.jsonrpc === "2.0" ? value : undefined;
  } catch {
    return undefined;
  }
}

function withoutNumber(value: Json): Json {
  if (value?.jsonrpc !== "2.0" || !("method" in value)) return value;
  const { id, ...rest } = structuredClone(value);
  if (value.method === "notifications/cancelled") delete rest.params?.requestId;
  if (id !== undefined && rest.params?._meta?.progressToken === id) delete rest.params._meta.progressToken;
  return rest;
}

/** A body whose messages have another number. Of an event stream and of lines, each line is a message. */
function renumbered(body: string, old: Json, now: Json): string {
  return body.split("\n").map((line) => {
    const start = /^data: ?/.exec(line)?.[0] ?? "";
    const value = rpc(line.slice(start.length));
    if (!value) return line;
    if (!("method" in value) && value.id === old) value.id = now;
    else if (value.params?.progressToken === old) value.params.progressToken = now;
    else return line;
    return start + JSON.stringify(value);
  }).join("\n");
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

// --- Answers ---------------------------------------------------------------------------------------------

function answer(recorded: Interaction["response"], blobs: Blobs, [old, now]: Json[]): Response {
  const { status, error, stream = {} } = recorded;
  if (status.code === 0) throw new TypeError(`${error.error}: ${error.message ?? ""}`);
  const headers = new Headers();
  for (const [name, values] of Object.entries(recorded.headers))
    if (!["content-encoding", "content-length"].includes(name.toLowerCase())) values.forEach((value) => headers.append(name, value));
  const coding = (recorded.headers["content-encoding"] ?? []).join(",");
  const content = decompressed(recorded.body, coding, blobs);
  const isNumbered = old !== undefined && now !== undefined && old !== now;
  const chunks = isNumbered ? [Buffer.from(renumbered(content.toString(), old, now))] : cut(content, recorded.body, stream.sizes, blobs);
  const bare = [101, 204, 205, 304].includes(status.code);
  return new Response(bare ? null : streamed(chunks, error, stream.end), { status: status.code, statusText: status.message ?? "", headers });
}

function streamed(chunks: Buffer[], error: Json, end: string | undefined): ReadableStream {
  const left = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const next = left.shift();
      if (next) controller.enqueue(new Uint8Array(next));
      else if (error) controller.error(new TypeError(`${error.error}: ${error.message ?? ""}`));
      else if (end === "closed") controller.error(new Miss("the recorded stream ends here, because its client stopped reading"));
      else controller.close();
    },
  }, { highWaterMark: 0 });
}

function decompressed(form: Json, coding: string, blobs: Blobs): Buffer {
  if (form?.coding || !coding) return bytesOf(form, blobs);
  if (form?.reads) return bytesOf(form.reads, blobs);
  const undo = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync }[coding];
  return undo ? undo(bytesOf(form, blobs)) : bytesOf(form, blobs);
}

function cut(body: Buffer, form: Json, sizes: string | undefined, blobs: Blobs): Buffer[] {
  if (form?.coding || !body.length) return body.length ? [body] : [];
  const lengths = sizes === "events" ? pieces(form, blobs).map((piece) => piece.length) : (sizes ?? "").split(" ").filter(Boolean).map(Number);
  if (lengths.reduce((sum, size) => sum + size, 0) !== body.length) return [body];
  let at = 0;
  return lengths.map((size) => body.subarray(at, (at += size))).filter((chunk) => chunk.length);
}

// --- Bodies ----------------------------------------------------------------------------------------------

class Blobs {
  constructor(private folder: string) {}
  get(name: string): Buffer {
    if (!/^[0-9a-f]{64}\.\w+$/.test(name)) throw new Error(`${name} is not the name of a blob`);
    const data = readFileSync(join(this.folder, name));
    if (createHash("sha256").update(data).digest("hex") !== name.split(".")[0]) throw new Error(`${name} does not match its hash`);
    return data;
  }
}

/** The bytes of a body, without its content-encoding if they are stored so. */
export function bytesOf(form: Json, blobs: Blobs): Buffer {
  return form === null ? Buffer.alloc(0) : Buffer.concat(pieces(form, blobs));
}

function pieces(form: Json, blobs: Blobs): Buffer[] {
  const style = form.style ?? "";
  const inside = (value: Json): Json => (form.blobs ? restored(value, blobs) : value);
  if ("json" in form) return [Buffer.from((form.start ?? "") + spell(inside(form.json), style) + (form.end ?? ""))];
  if ("sse" in form) return inside(form.sse).map((event: Json) => Buffer.from(eventText(event, style)));
  if ("ndjson" in form) return lines(inside(form.ndjson), style, form.end ?? "");
  if ("eventstream" in form) return inside(form.eventstream).map((entry: Json) => frame(entry, style));
  if ("text" in form) return [encoded([form.text].flat().join(""), form.charset ?? "utf-8")];
  if ("base64" in form) return [Buffer.from(form.base64, "base64")];
  if ("blob" in form) return [blobs.get(form.blob)];
  throw new Error(`a body of the kind ${Object.keys(form)[0]} is not read`);
}

function restored(value: Json, blobs: Blobs): Json {
  if (Array.isArray(value)) return value.map((item) => restored(item, blobs));
  if (value === null || typeof value !== "object") return value;
  if ("$blob" in value) return (value.before ?? "") + base64(blobs.get(value.$blob), value.as);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, restored(item, blobs)]));
}

function base64(data: Buffer, alphabet: string | undefined): string {
  const text = data.toString("base64");
  return alphabet === "base64url" ? text.replaceAll("+", "-").replaceAll("/", "_") : text;
}

function encoded(text: string, charset: string): Buffer {
  if (charset === "utf-8") return Buffer.from(text);
  if (/^(iso-8859-1|latin-?1)$/.test(charset)) return Buffer.from(text, "latin1");
  throw new Error(`the character set ${charset} is not written`);
}

function lines(values: Json[], style: string, end: string): Buffer[] {
  const texts = values.map((value) => ("raw" in value ? value.raw : spell(value, style)));
  return [...texts, end].map((text, at) => Buffer.from(at < texts.length ? `${text}\n` : text)).filter((line) => line.length);
}

function eventText(event: Json, bodyStyle: string): string {
  if ("raw" in event) return event.raw;
  const words = bodyStyle.split(" ");
  const [eol, gap] = [words.includes("crlf") ? "\r\n" : "\n", words.includes("tight") ? "" : " "];
  const style = event.style || words.filter((word) => !["crlf", "tight"].includes(word)).join(" ");
  const line = (name: string, value: Json): string => {
    if (name === "comment") return `:${value}`;
    if (name === "text") return `data:${gap}${value}`;
    if (name !== "data") return `${name}:${gap}${value}`;
    const text = spell(value, style);
    return `data:${gap}${text.slice(0, -1)}${" ".repeat(event.pad ?? 0)}${text.slice(-1)}`;
  };
  const named = Object.entries(event).filter(([name]) => !["pad", "style"].includes(name));
  return named.map(([name, value]) => line(name, value) + eol).join("") + eol;
}

function frame(entry: Json, style: string): Buffer {
  if ("base64" in entry) return Buffer.from(entry.base64, "base64");
  const payload = Buffer.from("json" in entry ? spell(entry.json, style) : entry.text);
  const headers = Buffer.concat(Object.entries(entry.headers).map(([name, value]) => {
    const [key, text] = [Buffer.from(name), Buffer.from(value as string)];
    return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([7, text.length >> 8, text.length & 255]), text]);
  }));
  const prelude = Buffer.concat([number(16 + headers.length + payload.length), number(headers.length)]);
  const message = Buffer.concat([prelude, number(crc32(prelude)), headers, payload]);
  return Buffer.concat([message, number(crc32(message))]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The JSON text of a value in a style: words such as `spaced`, `indent2`, `ascii`. */
export function spell(value: Json, style: string): string {
  const words = style.split(" ");
  const indented = words.find((word) => word === "tab" || word.startsWith("indent"));
  const indent = indented === "tab" ? "\t" : " ".repeat(Number(indented?.slice(6) ?? 0));
  const [comma, colon] = [words.includes("spaced") ? ", " : ",", indented || /spaced|colon/.test(style) ? ": " : ":"];
  let text = indented === undefined ? joined(value, comma, colon) : indentedText(value, indent, "\n");
  if (words.includes("ascii")) text = text.replace(/[\u007f-\uffff]/g, (char) => (char === "\u007f" ? char : escape_(char)));
  if (words.includes("slash")) text = text.replaceAll("/", "\\/");
  const escaped = words.find((word) => word.startsWith("escape:"))?.slice(7) ?? "";
  return [...escaped].reduce((done, char) => done.replaceAll(char, escape_(char)), text);
}

const escape_ = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

function joined(value: Json, comma: string, colon: string): string {
  if (Array.isArray(value)) return `[${value.map((item) => joined(item, comma, colon)).join(comma)}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, item]) => JSON.stringify(key) + colon + joined(item, comma, colon)).join(comma)}}`;
}

function indentedText(value: Json, indent: string, before: string): string {
  const list = Array.isArray(value);
  if (value === null || typeof value !== "object" || !Object.keys(value).length) return JSON.stringify(value);
  const inner = before + indent;
  const items = Object.entries(value).map(([key, item]) => (list ? "" : `${JSON.stringify(key)}: `) + indentedText(item, indent, inner));
  return `${list ? "[" : "{"}${inner}${items.join(`,${inner}`)}${before}${list ? "]" : "}"}`;
}
