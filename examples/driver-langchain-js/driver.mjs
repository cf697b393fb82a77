// A driver for `conformance run --command`: LangChain.js, with its agent, over its packages for three providers.
//
//     npm install
//     conformance run --command "node driver.mjs" --wire openai-chat      (openai-responses, anthropic, gemini)
//
// docs/conformance/driver-protocol.md has the protocol.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";

console.log = console.error; // what a library prints is no reply
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const env = (name) => process.env[`CONFORMANCE_${name}`];
const STREAM = env("MODE").includes("stream");
const WIRE = env("WIRE");
const TIMEOUT = env("TIMEOUT") ? 1000 * Number(env("TIMEOUT")) : undefined;
const SELF = {
  name: "langchain-js",
  capabilities: { image_in_tool_result: "native", pdf_in_tool_result: "native" },
  features: ["conversations", "cancel"],
  differences: [
    ["PAIR-007", "has other characters"],
    ["REQ-106", "the pattern here is"],
  ].map(([rule, shown]) => ({
    rule,
    shown,
    reason: "a history that the caller writes is sent as it was given, with its ids",
    since: "2026-11-28",
    wire: "anthropic",
  })),
};
const STOPS = {
  tool_calls: "tool",
  tool_use: "tool",
  end_turn: "stop",
  completed: "stop",
  STOP: "stop",
  max_tokens: "length",
  max_output_tokens: "length",
  MAX_TOKENS: "length",
  content_filter: "filter",
  refusal: "filter",
  SAFETY: "filter",
};

function model() {
  const to = { model: env("MODEL"), apiKey: env("API_KEY"), maxRetries: Number(env("MAX_RETRIES") ?? 0), timeout: TIMEOUT };
  const url = env("BASE_URL");
  if (WIRE === "anthropic") return new ChatAnthropic({ ...to, maxTokens: 4096, anthropicApiUrl: url.replace(/\/v1$/, "") });
  if (WIRE === "gemini") return new ChatGoogleGenerativeAI({ ...to, baseUrl: url.replace(/\/v1beta$/, "") });
  return new ChatOpenAI({ ...to, useResponsesApi: WIRE === "openai-responses", configuration: { baseURL: url } });
}

// ours -> theirs

function block(one) {
  switch (one.type) {
    case "text":
      return { type: "text", text: one.text };
    case "image":
      return one.url
        ? { type: "image", url: one.url }
        : { type: "image", mimeType: one.media_type ?? "image/png", data: one.data };
    case "pdf":
      return { type: "file", mimeType: "application/pdf", data: one.data, metadata: { filename: one.filename } };
  }
}

/** The value as it is after it has been written and read: -0 is 0. */
const asJson = (value) => JSON.parse(JSON.stringify(value));
const isResult = (one) => one.type === "tool_result";
const isMedia = (item) => item?.$media !== undefined;
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function media(item) {
  if (item.$media === "application/pdf") return block({ type: "pdf", ...item });
  return block({ type: "image", media_type: item.$media, url: item.url, data: item.data });
}

/** A value without its media, which go into `found`: a tool can return them only as blocks of their own. */
function without(value, found) {
  if (isMedia(value)) return `[file ${found.push(value)}]`;
  if (Array.isArray(value)) return value.map((item) => without(item, found));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, without(item, found)]));
}

/** What a tool returns: a text, or blocks where there are media. */
function output(value) {
  const items = Array.isArray(value) ? value : [value];
  if (!items.some(isMedia)) {
    const found = [];
    const rest = text(without(value, found));
    return found.length ? [{ type: "text", text: rest }, ...found.map(media)] : rest;
  }
  return items.map((item) => (isMedia(item) ? media(item) : { type: "text", text: text(item) }));
}

function user(parts, names) {
  const results = parts
    .filter(isResult)
    .map((one) => new ToolMessage({ content: output(one.value), tool_call_id: one.id, name: names[one.id] }));
  const said = parts.filter((one) => !isResult(one)).map(block);
  return [...results, ...(said.length ? [new HumanMessage({ contentBlocks: said })] : [])];
}

function assistant(parts) {
  const calls = parts.filter((one) => one.type === "tool_call");
  const content = parts.filter((one) => one.type === "text").map((one) => one.text).join("");
  const tool_calls = calls.map(({ id, name, arguments: args }) => ({ id, name, args, type: "tool_call" }));
  return new AIMessage({ content, tool_calls });
}

// the conversation

class Chat {
  constructor({ system, tools, history }) {
    const names = {};
    for (const one of history.flatMap((turn) => turn.parts)) if (one.type === "tool_call") names[one.id] = one.name;
    this.names = names;
    this.messages = history.flatMap((turn) =>
      turn.role === "user" ? user(turn.parts, names) : [assistant(turn.parts)],
    );
    const offered = tools.map((each) => this.tool(each));
    this.agent = createAgent({ model: model(), tools: offered, systemPrompt: system ?? undefined });
  }

  tool({ name, description, parameters, results }) {
    const run = (input) => {
      this.ran.push({ name, arguments: input });
      const found = results.find((each) => isDeepStrictEqual(asJson(each.arguments), asJson(input)));
      if (!found) throw new Error("unexpected arguments");
      if (found.error !== undefined) throw new Error(found.error);
      return output(found.value ?? null);
    };
    return tool(run, { name, description, schema: parameters });
  }

  async say(step) {
    this.ran = [];
    this.pieces = [];
    try {
      const state = await this.ask({ messages: [...this.messages, ...user(step.parts, this.names)] }, step);
      this.messages = state.messages;
      return { ...told(state.messages.at(-1)), pieces: this.pieces, ran: this.ran };
    } catch (error) {
      const { name, message } = error;
      const status = error.status ?? error.cause?.status ?? null; // LangChain wraps the SDK's error
      const reply = { error: `${message}`, error_class: name, status, complete: false };
      return { ...reply, text: this.pieces.join(""), pieces: this.pieces, ran: this.ran };
    }
  }

  async ask(state, { cancelled }) {
    const stopped = new AbortController();
    const options = { signal: stopped.signal };
    if (!cancelled) return STREAM ? this.streamed(state, options) : this.agent.invoke(state, options);
    const fetched = globalThis.fetch;
    globalThis.fetch = async (...given) => {
      const answer = await fetched(...given);
      stopped.abort();
      return answer;
    };
    try {
      return await (STREAM ? this.streamed(state, options) : this.agent.invoke(state, options));
    } finally {
      globalThis.fetch = fetched;
    }
  }

  async streamed(state, options) {
    let last = state;
    for await (const [mode, value] of await this.agent.stream(state, { ...options, streamMode: ["messages", "values"] })) {
      if (mode === "values") last = value;
      else if (AIMessageChunk.isInstance(value[0]) && value[0].text) this.pieces.push(value[0].text);
    }
    return last;
  }
}

function told(message) {
  const facts = { ...message.additional_kwargs, ...message.response_metadata };
  const stop = facts.incomplete_details?.reason ?? facts.finish_reason ?? facts.finishReason ?? facts.stop_reason ?? facts.status;
  const { input_tokens: input, output_tokens: output } = message.usage_metadata ?? {};
  const text = message.text || (message.additional_kwargs.refusal ?? "");
  return { text, stop: STOPS[stop] ?? stop ?? null, usage: { input, output } };
}

const conversation = JSON.parse(readFileSync(env("CONVERSATION"), "utf8"));
const chats = {};
for (const step of conversation.steps) {
  const chat = (chats[step.who ?? 0] ??= new Chat(conversation));
  print(await chat.say(step));
}
if (!conversation.steps.length) print(SELF);
