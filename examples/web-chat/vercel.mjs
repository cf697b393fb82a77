// Talks to app.py with the official client, without a page: node vercel.mjs http://127.0.0.1:8000/api/chat
// In React it is useChat({ transport: new DefaultChatTransport({ api: "/api/chat" }), sendAutomaticallyWhen: … }).
import { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";

const seen = new Set(); // the calls while they stream
class State {
  status = "ready";
  error = undefined;
  messages = [];
  pushMessage = (message) => (this.messages = [...this.messages, message]);
  popMessage = () => (this.messages = this.messages.slice(0, -1));
  replaceMessage = (at, message) => {
    for (const { type, state, input } of message.parts) if (state === "input-streaming") seen.add(`${type} ${JSON.stringify(input)}`);
    this.messages = this.messages.with(at, structuredClone(message));
  };
  snapshot = (value) => structuredClone(value);
}

class Chat extends AbstractChat {
  constructor(options) {
    super({ ...options, state: new State() });
  }
}

const errors = [];
const chat = new Chat({
  id: process.argv[3] ?? "chat-1",
  transport: new DefaultChatTransport({ api: process.argv[2] }),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  onError: (error) => errors.push(error.message),
});

const idle = async () => {
  while (chat.status === "submitted" || chat.status === "streaming") await new Promise((done) => setTimeout(done, 10));
};
const shown = () => structuredClone(chat.messages);
const told = {};

await chat.sendMessage({ text: "What is the weather in Köln? And delete notes.txt." });
told.asked = shown();
for (const part of chat.lastMessage.parts)
  if (part.state === "approval-requested") await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
await new Promise((done) => setTimeout(done, 50));
await idle();
told.approved = shown();

const png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
await chat.sendMessage({ text: "And this?", files: [{ type: "file", mediaType: "image/png", url: png }] });
told.file = shown();
await chat.regenerate();
told.regenerated = shown();
await chat.sendMessage({ text: "Fail." });
told.failed = shown();
console.log(JSON.stringify({ ...told, errors, seen: [...seen] }));
