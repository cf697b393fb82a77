// Vercel's AI SDK: the cells of its column, each with the symbol that the page should show. It needs Node with its packages, and writes
// one line of JSON for each cell, as cells.py does.

import assert from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const FOLDER = process.cwd(); // where the packages are
const load = (name) => import(pathToFileURL(createRequire(join(FOLDER, "x.js")).resolve(name)).href);
const ai = await load("ai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { z } = await load("zod");
const PACKAGES = ["ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/google", "@ai-sdk/mcp", "@ai-sdk/react", "@ai-sdk/provider", "@ai-sdk/provider-utils", "@ai-sdk/gateway", "@ai-sdk/workflow"];
const types = Object.fromEntries(PACKAGES.map((name) => [name, dist(name)]));

function dist(name) {
  const folder = join(FOLDER, "node_modules", name, "dist");
  return readdirSync(folder).filter((file) => file.endsWith(".d.ts")).map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
}

const runs = (symbol, check) => ({ symbol, kind: "program", check });

// Names in the types of the packages: `package: name`, or a name of `ai` itself.
const names = (symbol, ...wanted) => ({
  symbol,
  kind: "names",
  check: () => wanted.forEach((each) => {
    const [name, from = "ai"] = each.split(": ").reverse();
    assert(new RegExp(`\\b${name}\\b`).test(types[from]), `there is no ${name} in ${from}`);
  }),
});

// No type, function or field has a name that fits the pattern.
const nothing = (pattern) => ({
  symbol: "–",
  kind: "search",
  check: () => {
    const code = Object.values(types).join("\n").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    const found = [...code.matchAll(new RegExp(`\\b\\w*(?:${pattern})\\w*\\b`, "gi"))].map((each) => each[0]);
    assert(!found.length, `there are ${[...new Set(found)].slice(0, 8).join(", ")}`);
  },
});

const server = process.env.STRICT_SERVER;
const provider = createOpenAICompatible({ name: "strict", baseURL: `${server}/v1`, apiKey: "k", supportsStructuredOutputs: true });
const model = provider.chatModel("gpt-4.1");
const Person = z.object({ name: z.string(), age: z.number() });
const add = ai.tool({ description: "Adds two numbers.", inputSchema: z.object({ x: z.number(), y: z.number() }), execute: ({ x, y }) => x + y });
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function structured() {
  const { output } = await ai.generateText({ model, prompt: "Ann is 33.", output: ai.Output.object({ schema: Person }) });
  assert.deepEqual(output, { name: "Ann", age: 33 });
}

async function partial() {
  const { partialOutputStream } = ai.streamText({ model, prompt: "Ann is 33.", output: ai.Output.object({ schema: Person }) });
  const seen = [];
  for await (const each of partialOutputStream) seen.push(each);
  assert(seen.length > 1 && seen.at(-1).name === "Ann");
}

async function structuredWithTools() {
  const asked = { model, tools: { add }, stopWhen: ai.isStepCount(3), output: ai.Output.object({ schema: z.object({ sum: z.number() }) }) };
  const { steps } = await ai.generateText({ ...asked, prompt: "What is 2 + 3? Use the tool." });
  assert(steps.length > 1);
}

async function limitedSteps() {
  const { steps } = await ai.generateText({ model, tools: { add }, stopWhen: ai.isStepCount(1), prompt: "What is 2 + 3? Use the tool." });
  assert.equal(steps.length, 1);
}

// The step after the first has a message of the caller, and no tools.
async function preparedStep() {
  const prepareStep = ({ stepNumber, messages }) => stepNumber && { toolChoice: "none", messages: [...messages, { role: "user", content: "Be brief." }] };
  const bodies = [];
  const own = createOpenAICompatible({ name: "own", baseURL: `${server}/v1`, apiKey: "k", fetch: (url, sent) => (bodies.push(sent.body), fetch(url, sent)) });
  const asked = { model: own.chatModel("gpt-4.1"), tools: { add }, prepareStep, stopWhen: ai.isStepCount(2) };
  const { steps } = await ai.generateText({ ...asked, prompt: "What is 2 + 3? Use the tool." });
  assert.deepEqual([steps.length, steps[1].toolCalls.length], [2, 0]);
  assert(bodies[1].includes("Be brief."));
}

// The messages are JSON, and hold the question. A decision is a message; it has no arguments.
async function approvedLater() {
  const tools = { add: ai.tool({ ...add, needsApproval: true }) };
  const messages = [{ role: "user", content: "What is 2 + 3? Use the tool." }];
  const first = await ai.generateText({ model, tools, messages });
  const [asked] = first.content.filter((part) => part.type === "tool-approval-request");
  const saved = JSON.parse(JSON.stringify([...messages, ...first.response.messages]));
  const decision = { type: "tool-approval-response", approvalId: asked.approvalId, approved: true };
  const second = await ai.generateText({ model, tools, messages: [...saved, { role: "tool", content: [decision] }], stopWhen: ai.isStepCount(3) });
  assert(second.text.includes("5"));
}

async function savedAndContinued() {
  const messages = [{ role: "user", content: "Hi" }];
  const { response } = await ai.generateText({ model, messages });
  const saved = JSON.parse(JSON.stringify([...messages, ...response.messages]));
  assert((await ai.generateText({ model, messages: [...saved, { role: "user", content: "Go on" }] })).text);
}

// Four histories: a result without a call, a call without a result, two results of a call, and a call whose name has a space.
async function brokenHistories() {
  const call = (toolName) => ({ role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName, input: { x: 1, y: 2 } }] });
  const result = (toolName) => ({ role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName, output: { type: "json", value: 3 } }] });
  const user = { role: "user", content: "a" };
  const histories = [
    [user, result("add"), user],
    [user, call("add"), user],
    [user, call("add"), result("add"), result("add"), user],
    [user, call("a dd"), result("a dd"), user],
  ];
  const sent = await Promise.all(histories.map((messages) => ai.generateText({ model, messages, maxRetries: 0 }).then(() => true, () => false)));
  assert.deepEqual(sent, [false, false, false, false]);
}

async function cancelled() {
  const controller = new AbortController();
  const { fullStream } = ai.streamText({ model, prompt: "Repeat: one two three four", abortSignal: controller.signal });
  const seen = [];
  for await (const part of fullStream) {
    seen.push(part.type);
    if (part.type === "text-delta") controller.abort();
  }
  assert.equal(seen.at(-1), "abort");
}

async function deltas() {
  const { fullStream } = ai.streamText({ model, tools: { add }, prompt: "What is 2 + 3? Use the tool." });
  const seen = new Set();
  for await (const part of fullStream) seen.add(part.type);
  assert(seen.has("tool-input-delta"));
}

async function ownClient() {
  let asked = 0;
  const own = createOpenAICompatible({ name: "own", baseURL: `${server}/v1`, apiKey: "k", fetch: (...what) => (asked++, fetch(...what)) });
  await ai.generateText({ model: own.chatModel("gpt-4.1"), prompt: "Hi" });
  assert.equal(asked, 1);
}

async function imageAsResult() {
  const toModelOutput = () => ({ type: "content", value: [{ type: "file", mediaType: "image/png", data: { type: "data", data: PNG } }] });
  const picture = ai.tool({ description: "Shows a picture.", inputSchema: z.object({}), execute: () => "shown", toModelOutput });
  const { steps } = await ai.generateText({ model, tools: { picture }, prompt: "Show the picture. Use the tool.", stopWhen: ai.isStepCount(2) });
  assert.equal(steps.length, 2);
}

async function endedByACall() {
  const { steps, text, toolResults } = await ai.generateText({ model, tools: { add }, stopWhen: ai.hasToolCall("add"), prompt: "What is 2 + 3? Use the tool." });
  assert.deepEqual([steps.length, text, toolResults[0].output], [1, "", 5]);
}

async function leftOut() {
  const { createOpenAI } = await load("@ai-sdk/openai");
  const openai = createOpenAI({ baseURL: `${server}/v1`, apiKey: "k" });
  const { warnings } = await ai.generateText({ model: openai("gpt-5.6-terra"), prompt: "Hi", topK: 4 });
  assert(warnings.some((each) => each.type === "unsupported"));
}

const CELLS = {
  "A value of a Python type": runs("✓", structured),
  "The library chooses the mode for the model and the schema, and you can set it": names("◐", "@ai-sdk/anthropic: structuredOutputMode"),
  "An answer that does not fit the schema is requested again": names("◐", "experimental_repairText"),
  "Partial objects, typed": runs("✓", partial),
  "Together with tools": runs("✓", structuredWithTools),
  "Call id, dependencies, progress for a tool": names("✓", "@ai-sdk/provider-utils: toolCallId", "toolsContext", "preliminary"),
  "Limits of requests, calls, tokens, cost": runs("◐", limitedSteps),
  "At a limit, the model answers with what it has": runs("◐", preparedStep),
  "A person approves calls, and can change their arguments": names("◐", "@ai-sdk/provider-utils: needsApproval", "@ai-sdk/provider-utils: approved"),
  "The decision comes later, in another process": runs("✓", approvedLater),
  "Images and PDFs as results": runs("✓", imageAsResult),
  "Tools that the provider runs": names("✓", "@ai-sdk/openai: webSearch", "@ai-sdk/anthropic: webSearch_20250305"),
  "A running tool asks the user": nothing("askUser|ask_user|requestInput"),
  "Uses tools of MCP servers; serves its own tools": names("◐", "@ai-sdk/mcp: createMCPClient"),
  "Tools that the model finds by a search": names("✓", "toolSearch"),
  "A tool whose result is the answer, without another request": runs("◐", endedByACall),
  "An MCP server asks the user": names("✓", "@ai-sdk/mcp: onElicitationRequest"),
  "An MCP server asks the model": nothing("createMessage|samplingHandler"),
  "Resources and prompts of MCP servers": names("✓", "@ai-sdk/mcp: listResources", "@ai-sdk/mcp: readResource", "@ai-sdk/mcp: experimental_getPrompt"),
  "OAuth of MCP servers": names("✓", "@ai-sdk/mcp: authProvider"),
  "Citations as content": names("✓", "sources", "@ai-sdk/provider: LanguageModelV4Source"),
  "Images in an answer become content": names("✓", "GeneratedFile"),
  "Text, docx, xlsx": names("◐", "FilePart"),
  "Uploads to the provider": names("✓", "uploadFile"),
  "An upload that is sent to another provider": nothing("reupload|uploadTo"),
  "Content that cannot be sent is described in words, and the chat continues": nothing("describe(?:Image|Media|Content|File)"),
  "The next provider answers if one is down": names("◐", "@ai-sdk/gateway: GatewayModelFallback"),
  "A message is added while the model works": runs("◐", preparedStep),
  "A long history is made shorter": names("◐", "pruneMessages"),
  "The provider makes a long history shorter": names("◐", "@ai-sdk/anthropic: contextManagement"),
  "A conversation is saved as JSON and continued": runs("✓", savedAndContinued),
  "A history from elsewhere with a broken part is sent in a form that the provider accepts": runs("–", brokenHistories),
  "One setting for thinking": names("✓", "reasoning", "@ai-sdk/provider: minimal"),
  "Parameters that a model does not take are left out, with a warning": runs("✓", leftOut),
  "Cancelling a stream": runs("✓", cancelled),
  "A chat app in the browser; in the terminal": nothing("chatApp|runConsole|terminalChat"),
  "Clients of Vercel's AI SDK, with approval": names("✓", "toUIMessageStream", "lastAssistantMessageIsCompleteWithApprovalResponses"),
  "Clients of AG-UI, with approval": nothing("agui|ag_ui"),
  "Arguments of a call while the model writes them": runs("✓", deltas),
  "A page that is loaded again shows the conversation": names("✓", "validateUIMessages", "@ai-sdk/react: useChat"),
  "A second request of a conversation waits": names("◐", "SerialJobExecutor"),
  "Many prompts at once": nothing("parallelChat|generateMany|promptList"),
  "After an interruption, they continue from a file": nothing("journal|checkpointPath|resumeFrom"),
  "After an interruption, they return the answers so far": nothing("answersSoFar|partialResults"),
  "Batch APIs, for half the price": names("✓", "experimental_startBatch"),
  "Cost of a conversation": names("◐", "@ai-sdk/gateway: totalCost"),
  "Newer prices without a new version": nothing("refreshPrices|priceTable"),
  "Tokens counted beforehand": nothing("countTokens|tokenCounter"),
  "A proxy; your own HTTP client": runs("✓", ownClient),
  "Graphs of agents, hand-overs": nothing("handoff|agentGraph"),
  "Durable execution (Temporal, DBOS)": names("✓", "@ai-sdk/workflow: WorkflowAgent"),
  "Embeddings, vector stores, retrieval": names("◐", "embedMany", "rerank"),
  "Speech in real time": names("✓", "Experimental_AbstractRealtimeSession"),
  "Your own evaluations": names("◐", "experimental_evaluate"),
};

for (const [row, { symbol, kind, check }] of Object.entries(CELLS)) {
  const error = await Promise.resolve().then(check).then(() => "", (wrong) => `${wrong.message}`.slice(0, 400));
  console.log(JSON.stringify({ row, symbol, kind, error }));
}
process.exit(0);
