// A page's hook, without a browser: node react.mjs http://127.0.0.1:8000/api/chat http://127.0.0.1:8000/api/messages
// A second page is loaded while a call waits for a decision. It shows the old conversation, and goes on from there.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { act, createElement } from "react";
import { create } from "react-test-renderer";

globalThis.IS_REACT_ACT_ENVIRONMENT = true;
console.error = () => {}; // the renderer says that it is deprecated
const [api, stored, id = "page-1"] = process.argv.slice(2);
const errors = [];

async function page() {
  const messages = await (await fetch(`${stored}?id=${id}`)).json();
  let hook;
  function Page() {
    hook = useChat({
      id,
      messages,
      transport: new DefaultChatTransport({ api }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onError: (error) => void errors.push(error.message),
    });
    return null;
  }
  await act(async () => void create(createElement(Page)));
  const idle = async () => {
    do await act(async () => new Promise((done) => setTimeout(done, 30)));
    while (hook.status !== "ready" && hook.status !== "error");
  };
  const shown = () => structuredClone(hook.messages);
  return { hook: () => hook, idle, shown, loaded: messages };
}

const told = {};
const first = await page();
told.empty = first.loaded;
await act(async () => void first.hook().sendMessage({ text: "What is the weather in Köln? And delete notes.txt." }));
await first.idle();
told.asked = first.shown();

const second = await page();
told.loaded = second.shown();
const waits = told.loaded.at(-1).parts.find((part) => part.state === "approval-requested");
await act(async () => void second.hook().addToolApprovalResponse({ id: waits.approval.id, approved: true }));
await second.idle();
told.approved = second.shown();

const png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
await act(async () => void second.hook().sendMessage({ text: "And this?", files: [{ type: "file", mediaType: "image/png", url: png }] }));
await second.idle();
told.file = second.shown();

const third = await page();
told.again = third.shown();
await act(async () => void third.hook().regenerate());
await third.idle();
told.regenerated = third.shown();
console.log(JSON.stringify({ ...told, errors }));
process.exit(0);
