// What messages hold: tables that sort, pictures that fill the window, and names for what has none.
const order = new Intl.Collator(undefined, { numeric: true });
const NUMBER = /^[-+−]?[\d.,' ]*\d\s?[%€$£]?$/;

function value(cell) {
  const text = cell?.innerText.trim() ?? "";
  return NUMBER.test(text) ? Number(text.replace(/[,' %€$£]/g, "").replace("−", "-")) : text;
}

function sort(heading) {
  const table = heading.closest("table");
  const column = heading.cellIndex;
  const down = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((line) => [value(line.cells[column]), line]);
  const compared = ([a], [b]) => (typeof a === "number" && typeof b === "number" ? a - b : order.compare(String(a), String(b)));
  rows.sort((a, b) => (down ? -1 : 1) * compared(a, b));
  body.append(...rows.map(([, line]) => line));
}

// A button in each heading sorts its column. The table is in a region that a keyboard can scroll.
function sortable(table) {
  table.dataset.ellmerTable = "";
  table.tabIndex = 0;
  for (const heading of table.tHead?.rows[0]?.cells ?? []) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "ellmer-sort" });
    button.setAttribute("aria-label", `Sort by ${heading.innerText.trim() || "this column"}`);
    button.addEventListener("click", () => sort(heading));
    heading.append(button);
  }
}

// A picture opens in a dialog over the whole window. Escape, or a click, closes it.
function enlargeable(image) {
  image.dataset.ellmerPicture = "";
  if (image.closest("a, button")) return;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "ellmer-enlarge" });
  button.setAttribute("aria-label", `Enlarge ${image.alt || "picture"}`);
  for (const each of [image, button]) each.addEventListener("click", () => enlarge(image, button));
  image.after(button);
}

function enlarge(image, button) {
  const dialog = Object.assign(document.createElement("dialog"), { className: "ellmer-picture" });
  dialog.setAttribute("aria-label", image.alt || "Picture");
  const close = Object.assign(document.createElement("button"), { type: "button", textContent: "Close", className: "btn btn-sm btn-secondary" });
  dialog.append(Object.assign(document.createElement("img"), { src: image.src, alt: image.alt }), close);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    button.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}

// Code says its language.
function named(code) {
  const [, language] = /language-([\w+#.-]+)/.exec(code.className) ?? [];
  code.parentElement.dataset.ellmerLanguage = language ?? "";
}

// A long result is cut, until somebody wants all of it. Tables scroll, and pictures stay whole.
const LONG = 400;
const LONG_WITH_PICTURES = 700;

function cut(result) {
  if (result.offsetHeight < (result.querySelector("img, table, video") ? LONG_WITH_PICTURES : LONG)) return;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "ellmer-more", textContent: "Show all" });
  button.addEventListener("click", () => {
    result.classList.replace("ellmer-tall", "ellmer-whole");
    button.remove();
  });
  result.classList.add("ellmer-tall");
  result.after(button);
}

const KINDS = [
  [".shiny-chat-message-body table:not([data-ellmer-table])", sortable],
  [".shiny-chat-message .shiny-chat-message-body img:not([data-ellmer-picture])", enlargeable],
  [".shiny-chat-message-body pre:not([data-ellmer-language]) > code", named],
  [".shiny-tool-result__result:not(.ellmer-tall, .ellmer-whole)", cut],
  [".task-list-item > input:not([aria-label])", (box) => box.setAttribute("aria-label", box.parentElement.innerText.trim() || "Task")],
];

// While an answer arrives, its blocks are drawn anew: they are dressed when it is there.
let waiting = 0;
new MutationObserver(() => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    for (const [selector, dress] of KINDS) document.querySelectorAll(selector).forEach(dress);
  }, 100);
}).observe(document.body, { childList: true, subtree: true });
