// A driver for `conformance run --command`: the AI SDK, with its own loop, over its packages for three providers.
//
//     npm install
//     conformance run --command "node driver.mjs" --wire openai-chat      (openai-responses, anthropic, gemini)
//
// docs/conformance/driver-protocol.md has the protocol.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isLoopFinished, jsonSchema, Output, streamText, tool } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;
const env = (name) => process.env[`CONFORMANCE_${name}`];
const STREAM = env("MODE").includes("stream");
const WIRE = env("WIRE");
const TIMEOUT = env("TIMEOUT") && 1000 * Number(env("TIMEOUT"));
const IDS = "a history that the caller writes is sent as it was given, with its ids";
const SELF = {
  name: "ai-sdk",
  capabilities: {
    structured: "native",
    dangling_call: "refused", // MissingToolResultsError
    image_in_tool_result: WIRE === "openai-chat" ? "pointer" : "native",
    pdf_in_tool_result: WIRE === "openai-chat" ? "pointer" : "native",
  },
  features: ["conversations", "reload", "cancel"],
  differences: [
    ["PAIR-007", "has other characters", IDS],
    ["REQ-106", "the pattern here is", IDS],
    ["STO-003", "was handed over", "a value is compared with a JSON schema only by the `validate` of the caller"],
  ].map(([rule, shown, reason]) => ({ rule, shown, reason, since: "2026-11-29" })),
};
const STOPS = { "tool-calls": "tool", "content-filter": "filter" };

function model() {
  const to = { baseURL: env("BASE_URL"), apiKey: env("API_KEY") };
  if (WIRE === "anthropic") return createAnthropic(to)(env("MODEL"));
  if (WIRE === "gemini") return createGoogleGenerativeAI(to)(env("MODEL"));
  const openai = createOpenAI(to);
  return WIRE === "openai-chat" ? openai.chat(env("MODEL")) : openai.responses(env("MODEL"));
}

// ours -> theirs

function part(one) {
  switch (one.type) {
    case "text":
      return { type: "text", text: one.text };
    case "image":
      return { type: "file", mediaType: one.media_type ?? "image/png", data: one.url ? new URL(one.url) : one.data };
    case "pdf":
      return { type: "file", mediaType: "application/pdf", data: one.data, filename: one.filename };
    case "tool_call":
      return { type: "tool-call", toolCallId: one.id, toolName: one.name, input: one.arguments };
  }
}

/** The value as it is after it has been written and read: -0 is 0. */
const asJson = (value) => JSON.parse(JSON.stringify(value));

const isResult = (one) => one.type === "tool_result";
const media = (item) => item?.$media !== undefined;
const file = (item) => ({
  type: "file",
  mediaType: item.$media,
  data: item.url ? { type: "url", url: new URL(item.url) } : { type: "data", data: item.data },
  ...(item.filename && { filename: item.filename }),
});

/** What the model is told of a value: media in it are files. */
function output(value) {
  const items = Array.isArray(value) ? value : [value];
  const text = (item) => ({ type: "text", text: typeof item === "string" ? item : JSON.stringify(item) });
  if (items.some(media)) return { type: "content", value: items.map((item) => (media(item) ? file(item) : text(item))) };
  return typeof value === "string" ? { type: "text", value } : { type: "json", value };
}

function user(parts, names) {
  const results = parts.filter(isResult).map((one) => ({
    type: "tool-result",
    toolCallId: one.id,
    toolName: names[one.id],
    output: output(one.value),
  }));
  const said = parts.filter((one) => !isResult(one)).map(part);
  return [
    ...(results.length ? [{ role: "tool", content: results }] : []),
    ...(said.length ? [{ role: "user", content: said }] : []),
  ];
}

// the conversation

class Chat {
  constructor({ system, tools, history }) {
    this.system = system;
    this.names = {};
    for (const one of history.flatMap((turn) => turn.parts)) if (one.type === "tool_call") this.names[one.id] = one.name;
    this.messages = history.flatMap((turn) =>
      turn.role === "user" ? user(turn.parts, this.names) : [{ role: "assistant", content: turn.parts.map(part) }],
    );
    this.tools = Object.fromEntries(tools.map((each) => [each.name, this.tool(each)]));
  }

  tool({ name, description, parameters, results }) {
    return tool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: (input) => {
        this.ran.push({ name, arguments: input });
        const found = results.find((each) => isDeepStrictEqual(asJson(each.arguments), asJson(input)));
        if (!found) throw new Error("unexpected arguments");
        if (found.error !== undefined) throw new Error(found.error);
        return found.value;
      },
      toModelOutput: (given) => output(given.output ?? null),
    });
  }

  async say(step) {
    this.ran = [];
    this.pieces = [];
    if (step.reloaded) this.messages = JSON.parse(JSON.stringify(this.messages));
    const messages = [...this.messages, ...user(step.parts, this.names)];
    try {
      const result = await this.ask(messages, step);
      this.messages = [...messages, ...result.responseMessages];
      return { ...result.reply, ran: this.ran };
    } catch (error) {
      const { name, statusCode, lastError, finishReason } = error;
      const message = finishReason ? `${error.message} (the answer ended with ${finishReason})` : error.message;
      const status = statusCode ?? lastError?.statusCode ?? null;
      return { text: this.pieces.join(""), error: `${message}`, error_class: name, status, complete: false, ran: this.ran };
    }
  }

  async ask(messages, { schema, cancelled }) {
    const stopped = new AbortController();
    const asked = {
      model: model(),
      instructions: this.system ?? undefined,
      messages,
      tools: this.tools,
      stopWhen: isLoopFinished(),
      maxRetries: Number(env("MAX_RETRIES") ?? 0),
      abortSignal: TIMEOUT ? AbortSignal.any([stopped.signal, AbortSignal.timeout(TIMEOUT)]) : stopped.signal,
      ...(WIRE === "openai-responses" && { providerOptions: { openai: { store: false } } }),
    };
    if (cancelled) return this.giveUp(asked, stopped);
    if (schema) {
      const result = await generateText({ ...asked, output: Output.object({ schema: jsonSchema(schema) }) });
      return { responseMessages: result.responseMessages, reply: { value: result.output } };
    }
    return STREAM ? this.streamed(asked) : told(await generateText(asked));
  }

  async streamed(asked) {
    const result = streamText({ ...asked, onError: () => {} });
    for (const told of [result.text, result.finishReason, result.usage, result.responseMessages]) {
      Promise.resolve(told).catch(() => {}); // what failed is thrown below, once
    }
    for await (const event of result.stream ?? result.fullStream) {
      if (event.type === "error") throw event.error;
      if (event.type === "abort") throw new Error("the caller gave it up");
      if (event.type === "text-delta") this.pieces.push(event.text);
    }
    const { text, finishReason, usage, responseMessages } = result;
    return told({
      text: await text,
      finishReason: await finishReason,
      usage: await usage,
      responseMessages: await responseMessages,
      pieces: this.pieces,
    });
  }

  async giveUp(asked, stopped) {
    const fetched = globalThis.fetch;
    globalThis.fetch = async (...given) => {
      const answer = await fetched(...given);
      stopped.abort();
      return answer;
    };
    try {
      return STREAM ? await this.streamed(asked) : told(await generateText(asked));
    } finally {
      globalThis.fetch = fetched;
    }
  }
}

/** Why it ended. A stream that broke off is "interrupted": the SDK's own word, and no reason of the provider's. */
const ending = (reason) =>
  reason === "interrupted" ? { stop: null, complete: false } : { stop: STOPS[reason] ?? reason };

function told({ text, finishReason, usage, responseMessages, pieces }) {
  const counts = { input: usage?.inputTokens, output: usage?.outputTokens };
  return { responseMessages, reply: { text, ...ending(finishReason), usage: counts, pieces } };
}

const conversation = JSON.parse(readFileSync(env("CONVERSATION"), "utf8"));
const chats = {};
for (const step of conversation.steps) {
  const chat = (chats[step.who ?? 0] ??= new Chat(conversation));
  console.log(JSON.stringify(await chat.say(step)));
}
if (!conversation.steps.length) console.log(JSON.stringify(SELF));
