// A driver for `conformance run --command`: the official Anthropic SDK for Node.js.
//
//     npm install
//     conformance run --command "node driver.mjs" --wire anthropic
//
// The suite starts it once per case and mode. It reads the conversation, talks to CONFORMANCE_BASE_URL, runs the
// tools that the model asks for, and prints one JSON line for each thing the user says.

import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import Anthropic from "@anthropic-ai/sdk";

const env = process.env;
const streamed = env.CONFORMANCE_MODE.includes("stream");
const client = new Anthropic({
  apiKey: env.CONFORMANCE_API_KEY,
  authToken: null,
  baseURL: env.CONFORMANCE_BASE_URL.replace(/\/v1$/, ""), // the SDK adds it
  maxRetries: Number(process.env.CONFORMANCE_MAX_RETRIES ?? 0),
});

const STOPS = { end_turn: "stop", stop_sequence: "stop", tool_use: "tool", max_tokens: "length", refusal: "filter" };

// ours -> theirs

/** The types of images that the API takes: https://platform.claude.com/docs/en/build-with-claude/vision */
const ACCEPTED = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"];

const image = (media_type, { url, data }) => ({
  type: "image",
  source: url ? { type: "url", url } : { type: "base64", media_type, data },
});
const pdf = (title, data) => ({
  type: "document",
  title,
  source: { type: "base64", media_type: "application/pdf", data },
});
const text = (value) => ({ type: "text", text: value });

function block(part) {
  switch (part.type) {
    case "text":
      return text(part.text);
    case "image":
      return image(part.media_type, part);
    case "pdf":
      return pdf(part.filename, part.data);
    case "tool_call":
      return { type: "tool_use", id: part.id, name: part.name, input: part.arguments };
    case "tool_result":
      return result(part.id, { value: part.value });
  }
}

/** A tool's result: text, or a list of text, images and documents. */
function result(id, { value, error }) {
  if (error !== undefined) return { type: "tool_result", tool_use_id: id, is_error: true, content: error };
  const items = Array.isArray(value) ? value : [value];
  const content = items.some((item) => item?.$media) ? items.map(item) : written(value) || "(no output)";
  return { type: "tool_result", tool_use_id: id, content };
}

const written = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function item(value) {
  if (!value?.$media) return text(written(value));
  return value.$media === "application/pdf" ? pdf(value.filename, value.data) : image(value.$media, value);
}

const isResult = (value) => value.type === "tool_result";

/** A user turn: results first, then what the user says. */
function user(parts) {
  const blocks = parts.map(block);
  return { role: "user", content: [...blocks.filter(isResult), ...blocks.filter((b) => !isResult(b))] };
}

// the conversation

class Chat {
  constructor({ system, tools, history }) {
    this.system = system;
    this.tools = tools;
    this.messages = history.map((turn) =>
      turn.role === "user" ? user(turn.parts) : { role: "assistant", content: turn.parts.map(block) },
    );
  }

  /** A user turn, to its final answer: what is printed. The history stays as it was if that fails. */
  async say(parts) {
    const before = [...this.messages];
    this.ran = [];
    this.text = "";
    try {
      this.messages.push(this.withOpenCalls(user(parts)));
      return { ...(await this.answer()), ran: this.ran };
    } catch (error) {
      this.messages = before;
      return { text: this.text, error: String(error), status: error.status, complete: false, ran: this.ran };
    }
  }

  /** Asks until no tool is called. */
  async answer() {
    for (;;) {
      const message = await this.ask();
      const calls = message.content.filter((b) => b.type === "tool_use");
      if (message.stop_reason === "max_tokens" && calls.length) {
        const said = message.content.filter((b) => b.type === "text" && b.text.trim());
        this.messages.push({ role: "assistant", content: said.length ? said : [text("(cut off)")] });
        this.messages.push(user([text("The token limit cut your tool call off. Please try again.")]));
        continue; // a call that was cut is never run
      }
      const said = message.content.filter((b) => b.type !== "text" || b.text.trim()); // empty ones are refused
      this.messages.push({ role: "assistant", content: said.length ? said : [text("(nothing)")] });
      if (!calls.length) return reply(message);
      this.messages.push({ role: "user", content: calls.map((call) => this.run(call)) });
    }
  }

  async ask() {
    const body = {
      model: env.CONFORMANCE_MODEL,
      max_tokens: 4096,
      messages: this.messages,
      ...(this.system && { system: this.system }),
      ...(this.tools.length && {
        tools: this.tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
      }),
    };
    if (!streamed) return client.messages.create(body);
    const stream = client.messages.stream(body);
    stream.on("text", (piece) => (this.text += piece));
    const message = await stream.finalMessage();
    if (!message.stop_reason) throw new Error("the stream ended without a stop_reason");
    return message;
  }

  /** What a tool gives for a call: the conversation has it by arguments. */
  run({ id, name, input }) {
    const tool = this.tools.find((each) => each.name === name);
    if (!tool) return result(id, { error: `There is no tool ${name}.` });
    this.ran.push({ name, arguments: input });
    const found = tool.results.find((each) => isDeepStrictEqual(each.arguments, input));
    if (!found) return result(id, { error: "Unexpected arguments." });
    const unknown = [found.value].flat().find((value) => value?.$media && !ACCEPTED.includes(value.$media));
    if (unknown) return result(id, { error: `${name} returned ${unknown.$media}, an image the model does not take.` });
    const deep = Array.isArray(found.value) ? found.value.findIndex((v) => Array.isArray(v)) : -1;
    if (deep >= 0 && JSON.stringify(found.value[deep]).includes("$media")) {
      return result(id, { error: `${name} returned media in value[${deep}], a list in a list.` });
    }
    return result(id, found);
  }

  /** Error results for calls at the end of the history that the user's turn does not answer. */
  withOpenCalls(turn) {
    const last = this.messages.at(-1);
    const given = new Set(turn.content.filter(isResult).map((b) => b.tool_use_id));
    const open = last?.role === "assistant" ? last.content.filter((b) => b.type === "tool_use" && !given.has(b.id)) : [];
    return { ...turn, content: [...open.map((b) => result(b.id, { error: "The call was not run." })), ...turn.content] };
  }
}

function reply({ content, stop_reason, usage }) {
  return {
    text: content.filter((b) => b.type === "text").map((b) => b.text).join(""),
    stop: STOPS[stop_reason] ?? stop_reason,
    usage: { input: usage.input_tokens, output: usage.output_tokens },
  };
}

const conversation = JSON.parse(await readFile(env.CONFORMANCE_CONVERSATION, "utf8"));
const chat = new Chat(conversation);
for (const step of conversation.steps) console.log(JSON.stringify(await chat.say(step.parts)));
