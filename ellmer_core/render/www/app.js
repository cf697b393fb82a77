// What the chat page does beside shinychat.

// Images that are elsewhere ---------------------------------------------------------------------------------
// A link behind an empty <ellmer-image> is an image of another host: of an allowed one, a click shows it here.
const hosts = document.querySelector("meta[name=ellmer-image-hosts]")?.content.split(" ").filter(Boolean) ?? [];

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("ellmer-image + a");
  if (!link || !hosts.includes(new URL(link.href).origin)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const image = document.createElement("img");
  image.alt = link.textContent;
  image.src = link.href;
  link.previousElementSibling.replaceChildren(image);
}, { capture: true });

// Buttons ----------------------------------------------------------------------------------------------------
// A button with data-ellmer="undo" tells the server; no message of a model can hold one.
const ask = (what) => window.Shiny.setInputValue("ellmer_do", what, { priority: "event" });

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-ellmer]");
  if (!button) return;
  const question = button.closest("[data-ellmer-question]");
  if (question) decide(question, button.dataset.ellmer === "approve");
  else ask({ do: button.dataset.ellmer });
});

// A call that waits for a decision takes the focus, unless somebody is typing. Ctrl-Enter approves it.
let before = null; // what had the focus

function takeFocus(question) {
  question.dataset.ellmerSeen = "";
  if (composer()?.innerText.trim() || document.activeElement?.closest("[data-ellmer-question]")) return;
  before = document.activeElement;
  question.focus();
}

document.addEventListener("keydown", (event) => {
  const question = event.target.closest?.("[data-ellmer-question]");
  if (question && event.key === "Enter" && (event.ctrlKey || event.metaKey)) decide(question, true);
});

function decide(question, approved) {
  const text = question.querySelector("textarea").value;
  const written = question.querySelector("textarea").defaultValue;
  const wrong = approved && text !== written && !isObject(text);
  question.querySelector(".ellmer-wrong").hidden = !wrong;
  if (wrong) return;
  const edited = approved && text !== written ? { arguments: text } : {};
  ask({ do: "decide", call: question.dataset.ellmerQuestion, approved, ...edited });
}

function isObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

// Pasted lines ------------------------------------------------------------------------------------------------
// shinychat's editor joins the lines of pasted text. Longer texts it takes as a file.
const LONGEST_PASTE = 1000;

document.addEventListener("paste", (event) => {
  const editor = event.target.closest?.(".shiny-chat-input [contenteditable]")?.editor;
  const text = event.clipboardData?.getData("text/plain").replace(/\r\n?/g, "\n") ?? "";
  if (!editor || !text.includes("\n") || text.length > LONGEST_PASTE || event.clipboardData.files.length) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const line = (words, index) => [...(index ? [{ type: "hardBreak" }] : []), ...(words ? [{ type: "text", text: words }] : [])];
  editor.commands.insertContent(text.split("\n").flatMap(line));
}, { capture: true });

// Files that cannot be sent -----------------------------------------------------------------------------------
// shinychat leaves them out without a word, and looks at names only: here they are refused when they are chosen.
const chosen = new WeakSet(); // lists of files that were looked at

async function isSendable(file, accepted) {
  const [, extension] = /.\.([^.]+)$/.exec(file.name) ?? [];
  if (/^image\/|^application\/pdf$/.test(file.type)) return accepted.includes(file.type);
  if (!accepted.includes(extension ? `.${extension.toLowerCase()}` : file.type)) return false;
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()).includes("\0");
  } catch {
    return false;
  }
}

async function choose(files) {
  const input = document.querySelector(".shiny-chat-input input[type=file]");
  const accepted = input.accept.split(",");
  const good = new DataTransfer();
  const bad = [];
  for (const file of files) {
    if (await isSendable(file, accepted)) good.items.add(file);
    else bad.push(file.name);
  }
  refuse(bad);
  if (!good.files.length) return;
  input.files = good.files;
  chosen.add(input.files);
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function refuse(names) {
  document.querySelector(".ellmer-refused")?.remove();
  if (!names.length) return;
  const words = Object.assign(document.createElement("p"), { className: "ellmer-refused" });
  words.setAttribute("role", "alert");
  words.textContent = `${names.join(", ")} cannot be sent: only images, PDFs and text can.`;
  document.getElementById("ellmer-status").before(words);
}

function takeFiles(event, files) {
  if (!files?.length || chosen.has(files)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  choose([...files]);
}

for (const kind of ["change", "drop", "paste"]) {
  document.addEventListener(kind, (event) => {
    if (event.target.closest?.(".shiny-chat-input")) takeFiles(event, (event.dataTransfer ?? event.clipboardData ?? event.target).files);
  }, { capture: true });
}

// Escape stops an answer.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.querySelector(".shiny-chat-btn-send[data-state=cancel]")?.click();
});

// What the server says ---------------------------------------------------------------------------------------
window.Shiny.addCustomMessageHandler("ellmer-decided", ({ call }) => {
  const question = document.querySelector(`[data-ellmer-question="${CSS.escape(call)}"]`);
  const focused = question?.contains(document.activeElement);
  question?.remove();
  if (focused) (before?.isConnected ? before : composer())?.focus();
});

// A connection that is lost ----------------------------------------------------------------------------------
// What is typed is kept in the tab until the server received it. The page says that the connection is lost, sends
// nothing meanwhile, and comes back when the server does.
const DRAFT = "ellmer-draft";
const composer = () => document.querySelector(".shiny-chat-input [contenteditable]");
const lost = Object.assign(document.createElement("div"), {
  className: "ellmer-lost",
  textContent: "The connection to the chat is lost. This page comes back by itself as soon as it can, with what you typed.",
});
lost.setAttribute("role", "alert");

document.addEventListener("input", (event) => {
  if (event.target === composer()) sessionStorage.setItem(DRAFT, composer().innerText.trim());
});
window.Shiny.addCustomMessageHandler("ellmer-received", (_message) => sessionStorage.removeItem(DRAFT));

// The input is drawn a moment after the page is loaded.
function whenThere(find, act, tries = 50) {
  const found = find();
  if (found) act(found);
  else if (tries) setTimeout(() => whenThere(find, act, tries - 1), 50);
}

// Until the server listens, it hears nothing: what is sent before is held back, and sent as soon as it can be.
let listens = false;
let wantsToSend = false;

const holdBack = (event) => {
  if (listens && !lost.isConnected) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  wantsToSend ||= !lost.isConnected && !event.target.closest?.("button[data-ellmer]");
};
document.addEventListener("click", (event) => {
  if (event.target.closest?.(".shiny-chat-btn-send, button[data-ellmer]")) holdBack(event);
}, { capture: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && composer()?.contains(event.target)) holdBack(event);
}, { capture: true });

window.jQuery(document).on("shiny:disconnected", () => {
  if (lost.isConnected) return;
  document.body.append(lost);
  setInterval(async () => {
    const there = await fetch(location.href, { cache: "no-store" }).then((answer) => answer.ok, () => false);
    if (there) location.reload();
  }, 1000);
});
window.jQuery(document).on("shiny:sessioninitialized", () => {
  listens = true;
  const text = sessionStorage.getItem(DRAFT);
  if (wantsToSend) whenThere(() => document.querySelector(".shiny-chat-btn-send"), (button) => button.click());
  else if (text) ask({ do: "draft", text });
  else if (matchMedia("(hover: hover)").matches) whenThere(() => composer(), (box) => box.focus());
});

// Messages ---------------------------------------------------------------------------------------------------
// What a user typed stays as it was typed, and each message can be copied.
let typed = null;
window.jQuery(document).on("shiny:inputchanged", (event) => {
  if (event.name !== "chat_user_input") return;
  typed = event.value?.text ?? null;
  refuse([]);
});

function keepTyped(message) {
  const body = message.querySelector(".shiny-chat-message-body");
  if (typed === null || !body || body.querySelector(".content-type-text")) return;
  const text = Object.assign(document.createElement("div"), { className: "content-type-text", textContent: typed });
  body.classList.add("ellmer-typed");
  body.append(text);
  typed = null;
}

function addCopy(message) {
  if (message.querySelector(":scope > .ellmer-copy")) return;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "ellmer-copy", textContent: "Copy" });
  button.setAttribute("aria-label", "Copy message");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(message.querySelector(".shiny-chat-message-body").innerText.trim());
    button.textContent = "Copied";
  });
  message.append(button);
}

new MutationObserver(() => {
  const question = document.querySelector("[data-ellmer-question]:not([data-ellmer-seen])");
  if (question) takeFocus(question);
  for (const message of document.querySelectorAll(".shiny-chat-user-message")) keepTyped(message);
  for (const message of document.querySelectorAll(":is(.shiny-chat-message, .shiny-chat-user-message):has(.shiny-chat-message-body > *)")) addCopy(message);
}).observe(document.body, { childList: true, subtree: true });
