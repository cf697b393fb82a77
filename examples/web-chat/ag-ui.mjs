// Talks to app.py with the official client: node ag-ui.mjs http://127.0.0.1:8000/api/agent
import { HttpAgent, randomUUID } from "@ag-ui/client";

const agent = new HttpAgent({ url: process.argv[2], threadId: process.argv[3] ?? "thread-1" });
const events = [];
const errors = [];
agent.subscribe({
  onEvent: ({ event }) => void events.push(event.type),
  onRunErrorEvent: ({ event }) => void errors.push(event.message),
});
const stored = async () => (await fetch(`${process.argv[2]}/messages?id=${agent.threadId}`)).json();
const say = (content) => agent.addMessage({ id: randomUUID(), role: "user", content });
const shown = () => structuredClone(agent.messages);
const told = {};

say("What is the weather in Köln? And delete notes.txt.");
await agent.runAgent();
told.asked = shown();
told.interrupts = structuredClone(agent.pendingInterrupts);
told.stored = await stored(); // what a page that is loaded again gets
agent.setMessages(told.stored.messages);
agent.pendingInterrupts = told.stored.interrupts;
await agent.runAgent({
  resume: agent.pendingInterrupts.map(({ id }) => ({
    interruptId: id,
    status: "resolved",
    payload: { approved: true, editedArgs: { path: "other.txt" } },
  })),
});
told.approved = shown();
told.left = agent.pendingInterrupts.length;
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
say([
  { type: "text", text: "And this?" },
  { type: "image", source: { type: "data", value: png, mimeType: "image/png" } },
]);
await agent.runAgent();
told.file = shown();
told.restored = (await stored()).messages;
say("Fail.");
await agent.runAgent().catch((error) => errors.push(`raised: ${error.message}`));
console.log(JSON.stringify({ ...told, errors, events }));
