// A driver for `conformance run --command`: OpenAI Chat Completions with Node's own fetch, and nothing else.
//
//     conformance run --command "node examples/driver-fetch/driver.mjs" --wire openai-chat
//
// It takes text and tools, and says that it refuses media.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const env = (name) => process.env[`CONFORMANCE_${name}`];
const STREAM = env("MODE").includes("stream");
const TRIES = Number(env("MAX_RETRIES")) + 1;
const MEDIA = ["image_in_user", "pdf_in_user", "image_in_tool_result", "pdf_in_tool_result"];
const SELF = {
  name: "driver-fetch",
  capabilities: Object.fromEntries(MEDIA.map((name) => [name, "refused"])),
  features: ["conversations", "reload"],
};

class ApiError extends Error {
  constructor(message, { status = null, text = "" } = {}) {
    super(message);
    Object.assign(this, { status, text, name: this.constructor.name });
  }
}
class TooLong extends ApiError {}
class RateLimited extends ApiError {}
class Incomplete extends ApiError {}

// over the wire ---------------------------------------------------------------------------------------------

async function ask(messages, tools) {
  const body = { model: env("MODEL"), messages, ...(tools.length ? { tools } : {}) };
  if (STREAM) Object.assign(body, { stream: true, stream_options: { include_usage: true } });
  const response = await sent(JSON.stringify(body));
  const kind = response.headers.get("content-type") ?? "";
  return STREAM && kind.startsWith("text/event-stream") ? folded(response) : whole(response);
}

async function sent(body) {
  const headers = {
    authorization: `Bearer ${env("API_KEY")}`,
    "content-type": "application/json",
    accept: STREAM ? "text/event-stream" : "application/json",
    "user-agent": "driver-fetch/1.0",
  };
  for (let left = TRIES - 1; ; left--) {
    let response;
    try {
      response = await fetch(`${env("BASE_URL")}/chat/completions`, { method: "POST", headers, body, redirect: "manual" });
    } catch (error) {
      throw new ApiError(`no answer came: ${error.cause ?? error}`);
    }
    if (response.ok) return response;
    const refusal = refused(response.status, await response.text());
    if (left === 0 || ![429, 500, 502, 503, 529].includes(response.status)) throw refusal;
    const wait = response.headers.get("retry-after-ms") ?? 1000 * (response.headers.get("retry-after") ?? 0.1);
    await sleep(Number(wait));
  }
}

function refused(status, text) {
  let error = {};
  try {
    error = JSON.parse(text).error ?? {};
  } catch {
    error = { message: text };
  }
  const Kind = error.code === "context_length_exceeded" ? TooLong : status === 429 ? RateLimited : ApiError;
  return new Kind(`${status}: ${error.message ?? text}`, { status });
}

async function whole(response) {
  try {
    const answer = JSON.parse(await response.text());
    if (answer.error) throw new ApiError(String(answer.error.message));
    const { message, finish_reason: stop } = answer.choices[0];
    return { ...message, content: message.content || message.refusal, stop, usage: answer.usage, pieces: [] };
  } catch (error) {
    throw error instanceof ApiError ? error : new Incomplete(`the answer is no answer: ${error.message}`);
  }
}

async function* lines(stream) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end; (end = /\r\n|\n|\r(?!$)/.exec(rest)); rest = rest.slice(end.index + end[0].length)) {
      yield rest.slice(0, end.index);
    }
  }
  yield* rest.split(/\r\n|\n|\r/);
}

async function* events(stream) {
  let data = [];
  for await (const line of lines(stream)) {
    if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    else if (line === "" && data.length) {
      const text = data.join("\n");
      if (text === "[DONE]") return;
      yield JSON.parse(text);
      data = [];
    }
  }
}

async function folded(response) {
  const found = { pieces: [], calls: [], stop: null, usage: null };
  const text = () => found.pieces.join("");
  try {
    for await (const event of events(response.body)) {
      if (event.error) throw new Incomplete(event.error.message, { text: text() });
      found.usage = event.usage ?? found.usage;
      for (const { delta = {}, finish_reason: stop } of event.choices ?? []) {
        found.stop = stop ?? found.stop;
        if (delta.content || delta.refusal) found.pieces.push(delta.content || delta.refusal);
        for (const part of delta.tool_calls ?? []) addTo(found.calls, part);
      }
    }
  } catch (error) {
    throw error instanceof ApiError ? error : new Incomplete(`the stream broke off: ${error.message}`, { text: text() });
  }
  if (found.stop === null) throw new Incomplete("the stream ended without a finish_reason", { text: text() });
  const tool_calls = found.calls.map(({ index, ...call }) => call);
  return { content: text(), tool_calls, stop: found.stop, usage: found.usage, pieces: found.pieces };
}

function addTo(calls, part) {
  let call = calls.findLast((one) => one.index === part.index);
  if (!call || (part.id && part.id !== call.id)) {
    call = { index: part.index, id: part.id, type: "function", function: { name: "", arguments: "" } };
    calls.push(call);
  }
  call.function.name += part.function?.name ?? "";
  call.function.arguments += part.function?.arguments ?? "";
}

// the conversation ------------------------------------------------------------------------------------------

const written = (value) => (typeof value === "string" ? value || "(no output)" : JSON.stringify(value));

function user(parts) {
  const results = parts.filter((part) => part.type === "tool_result");
  const said = parts.filter((part) => part.type !== "tool_result");
  if (said.some((part) => part.type !== "text")) throw new ApiError("images and PDFs are not supported");
  const content = said.map((part) => ({ type: "text", text: part.text.toWellFormed() }));
  return [
    ...results.map((part) => ({ role: "tool", tool_call_id: part.id, content: written(part.value) })),
    ...(content.length ? [{ role: "user", content }] : []),
  ];
}

function assistant(parts) {
  const calls = parts.filter((part) => part.type === "tool_call");
  const tool_calls = calls.map(({ id, name, arguments: given }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(given) },
  }));
  const text = parts.filter((part) => part.type === "text").map((part) => part.text).join("");
  return { role: "assistant", content: text || null, ...(calls.length ? { tool_calls } : {}) };
}

const equal = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
const sorted = (value) =>
  Array.isArray(value)
    ? value.map(sorted)
    : value && typeof value === "object"
      ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
      : value;

class Chat {
  constructor({ system, history, tools }) {
    this.tools = tools;
    this.messages = system ? [{ role: "system", content: system }] : [];
    for (const turn of history) this.messages.push(...(turn.role === "user" ? user(turn.parts) : [assistant(turn.parts)]));
  }

  async say(step) {
    this.ran = [];
    if (step.reloaded) this.messages = JSON.parse(JSON.stringify(this.messages));
    const before = [...this.messages];
    try {
      this.messages.push(...this.unanswered(step.parts), ...user(step.parts));
      return { ...(await this.answer()), ran: this.ran };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.messages = before;
      const { message, name, status, text } = error;
      return { text, error: message, error_class: name, status, complete: false, ran: this.ran };
    }
  }

  async answer() {
    const offered = this.tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
    for (;;) {
      const found = await ask(this.messages, offered);
      const calls = found.tool_calls ?? [];
      if (found.stop === "length" && calls.length) {
        const note = "The token limit cut your tool call off. Please try again.";
        this.messages.push({ role: "assistant", content: found.content || "(cut off)" }, { role: "user", content: note });
        continue;
      }
      for (const call of calls) call.function.arguments ||= "{}";
      const message = { role: "assistant", content: found.content || null, ...(calls.length ? { tool_calls: calls } : {}) };
      if (found.content || calls.length) this.messages.push(message);
      if (!calls.length) return told(found);
      for (const { id, function: made } of calls) this.messages.push({ role: "tool", tool_call_id: id, content: this.run(made) });
    }
  }

  run({ name, arguments: text }) {
    const tool = this.tools.find((one) => one.name === name);
    if (!tool) return `Error: there is no tool ${name}`;
    let given;
    try {
      given = JSON.parse(text);
    } catch (error) {
      return `Error: the arguments are no JSON: ${error.message}`;
    }
    this.ran.push({ name, arguments: given });
    const result = tool.results.find((one) => equal(one.arguments, given));
    if (!result) return "Error: unexpected arguments";
    if (result.error !== undefined) return `Error: ${result.error}`;
    const items = Array.isArray(result.value) ? result.value : [result.value];
    const media = items.findIndex((item) => JSON.stringify(item)?.includes('"$media"'));
    return media < 0 ? written(result.value) : `Error: ${name} returned media in value[${media}]: images and PDFs are not supported`;
  }

  unanswered(parts) {
    const given = new Set(parts.filter((part) => part.type === "tool_result").map((part) => part.id));
    const open = (this.messages.at(-1)?.tool_calls ?? []).filter((call) => !given.has(call.id));
    return open.map((call) => ({ role: "tool", tool_call_id: call.id, content: "Error: the call was not run" }));
  }
}

function told({ content, stop, usage, pieces }) {
  const counts = {
    input: usage?.prompt_tokens,
    output: usage?.completion_tokens,
    cached: usage?.prompt_tokens_details?.cached_tokens,
    reasoning: usage?.completion_tokens_details?.reasoning_tokens,
  };
  return { text: content ?? "", stop: { tool_calls: "tool", content_filter: "filter" }[stop] ?? stop, usage: counts, pieces };
}

const conversation = JSON.parse(readFileSync(env("CONVERSATION"), "utf8"));
const chats = {};
for (const step of conversation.steps) {
  const chat = (chats[step.who ?? 0] ??= new Chat(conversation));
  console.log(JSON.stringify(await chat.say(step)));
}
if (!conversation.steps.length) console.log(JSON.stringify(SELF));
