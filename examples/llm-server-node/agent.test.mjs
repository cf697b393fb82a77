import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "./llm-server.mjs";

const TOOL = { type: "function", function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } } };

// a small agent: it asks, runs the tool, and asks again
async function agent(server, question) {
  const messages = [{ role: "user", content: question }];
  for (;;) {
    const reply = await fetch(`${server.baseUrls.openai}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${server.key}` },
      body: JSON.stringify({ model: "gpt-4.1", messages, tools: [TOOL] }),
    });
    const { message } = (await reply.json()).choices[0];
    if (!message.tool_calls) return message.content;
    messages.push({ role: "assistant", content: null, tool_calls: message.tool_calls });
    for (const call of message.tool_calls) messages.push({ role: "tool", tool_call_id: call.id, content: `rain in ${JSON.parse(call.function.arguments).city}` });
  }
}

test("a script answers", async () => {
  const answers = [
    { when: { result: "get_weather" }, text: "Take an umbrella." },
    { when: { user: { contains: "weather" } }, calls: [{ name: "get_weather", arguments: { city: "Oslo" } }] },
  ];
  const server = await startServer({ script: { answers }, strict: true });
  assert.equal(await agent(server, "The weather?"), "Take an umbrella.");
  assert.deepEqual((await server.requests()).map(request => request.matched), ["answers.1", "answers.0"]);
  await server.stop();
});

test("the server's own model answers", async () => {
  const server = await startServer();
  assert.equal(await agent(server, "How is the weather in Oslo?"), "It is rain in Oslo.");
  await server.stop();
});

test("an illegal request fails the test", async () => {
  const server = await startServer();
  await fetch(`${server.baseUrls.openai}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer any-key" },
    body: JSON.stringify({ model: "gpt-4.1", messages: [{ role: "tool", tool_call_id: "call_1", content: "5" }] }),
  });
  await assert.rejects(server.stop(), /would refuse requests of this test/);
});
