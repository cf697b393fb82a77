// Around the messages: versions of an exchange, thumbs, choices, and the list of earlier conversations. All texts of
// users and models are set as text, never as HTML.
const ask = (what) => window.Shiny.setInputValue("ellmer_do", what, { priority: "event" });
const element = (name, properties = {}, ...inner) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...inner);
  return made;
};
const button = (label, text, act) => {
  const made = element("button", { type: "button", textContent: text, title: label });
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
};

// Under each message -----------------------------------------------------------------------------------------
let state = { exchanges: [], rated: false, conversations: [] };

function rewrite(place) {
  const { exchanges } = state;
  const shown = exchanges[place];
  const turn = (by) => ask({ do: "switch", exchange: place, by });
  const parts = [button("Edit message", "Edit", () => ask({ do: "edit", exchange: place }))];
  if (shown.versions > 1) {
    const before = button("Version before", "‹", () => turn(-1));
    const after = button("Version after", "›", () => turn(1));
    before.disabled = shown.version === 1;
    after.disabled = shown.version === shown.versions;
    parts.push(before, element("span", { textContent: `${shown.version}/${shown.versions}` }), after);
  }
  return parts;
}

function judge(place) {
  const parts = [button("Regenerate answer", "Regenerate", () => ask({ do: "regenerate", exchange: place }))];
  if (!state.rated) return parts;
  const { good } = state.exchanges[place];
  for (const [label, text, value] of [["Good answer", "👍", true], ["Bad answer", "👎", false]]) {
    const thumb = button(label, text, () => ask({ do: "rate", exchange: place, good: good === value ? null : value ? "up" : "down" }));
    thumb.setAttribute("aria-pressed", good === value);
    parts.push(thumb);
  }
  return parts;
}

function underMessages() {
  let place = -1;
  const messages = document.querySelectorAll(":is(.shiny-chat-message, .shiny-chat-user-message):has(.shiny-chat-message-body > *)");
  for (const [number, message] of [...messages].entries()) {
    const byUser = message.matches(".shiny-chat-user-message");
    if (byUser) place += 1;
    const last = !byUser && (messages[number + 1]?.matches(".shiny-chat-user-message") ?? true);
    const key = JSON.stringify([place, state.rated, state.exchanges[place] ?? null, byUser, last]);
    const there = message.querySelector(":scope > .ellmer-under");
    if (there?.dataset.key === key) continue;
    const focused = there?.contains(document.activeElement) && document.activeElement.title;
    there?.remove();
    if (!state.exchanges[place] || !(byUser || last)) continue;
    const under = element("div", { className: "ellmer-under" }, ...(byUser ? rewrite(place) : judge(place)));
    under.dataset.key = key;
    message.append(under);
    if (focused) [...under.children].find((child) => child.title === focused)?.focus();
  }
}
new MutationObserver(underMessages).observe(document.body, { childList: true, subtree: true });

// Choices ----------------------------------------------------------------------------------------------------
document.addEventListener("change", ({ target }) => {
  const name = target.dataset?.ellmerChoice;
  if (name) ask({ do: "choose", name, place: Number(target.value) });
});

function showChoices() {
  for (const select of document.querySelectorAll("[data-ellmer-choice]")) {
    select.value = String(state.chosen[select.dataset.ellmerChoice] ?? -1);
  }
}

// Earlier conversations --------------------------------------------------------------------------------------
const panel = () => document.querySelector(".ellmer-conversations");

function row(each) {
  const open = button(`Open ${each.title}`, each.title, () => ask({ do: "open", id: each.id }));
  open.className = "ellmer-open";
  if (each.id === state.open) open.setAttribute("aria-current", "true");
  const when = element("small", { textContent: new Date(each.changed * 1000).toLocaleDateString() });
  open.append(when);
  const line = element("li", {}, open);
  line.append(
    button(`Rename ${each.title}`, "✎", () => rename(line, each)),
    button(`Delete ${each.title}`, "✕", () => {
      ask({ do: "delete", id: each.id });
      deleted(each);
    }),
  );
  return line;
}

function rename(line, each) {
  const field = element("input", { value: each.title, className: "form-control form-control-sm" });
  field.setAttribute("aria-label", `New title of ${each.title}`);
  const done = (title) => {
    field.remove();
    if (title && title !== each.title) ask({ do: "rename", id: each.id, title });
    else list(true);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") done(field.value);
    else if (event.key === "Escape") done("");
    else return;
    event.stopPropagation();
  });
  line.replaceChildren(field);
  field.select();
}

function deleted(each) {
  const back = button(`Bring back ${each.title}`, "Undo", () => {
    ask({ do: "restore", id: each.id });
    panel().querySelector(".ellmer-deleted").replaceChildren();
    panel().querySelector("input").focus();
  });
  panel().querySelector(".ellmer-deleted").replaceChildren(element("span", { textContent: `“${each.title}” is deleted. ` }), back);
  back.focus();
}

let listed = "";
function list(anew = false) {
  const there = document.getElementById("ellmer-conversations");
  const wanted = JSON.stringify([state.conversations, state.open]);
  if (!there || (!anew && wanted === listed) || there.querySelector("input")) return;
  listed = wanted;
  const focused = there.contains(document.activeElement) && document.activeElement.title;
  there.replaceChildren(...state.conversations.map(row));
  if (!state.conversations.length) there.append(element("li", { textContent: "None yet." }));
  if (focused) [...there.querySelectorAll("button")].find((each) => each.title === focused)?.focus();
}

document.addEventListener("input", ({ target }) => {
  if (target.matches?.(".ellmer-conversations > [type=search]")) ask({ do: "search", text: target.value });
});

// What the server says ---------------------------------------------------------------------------------------
window.Shiny.addCustomMessageHandler("ellmer-status", (said) => {
  state = said;
  document.getElementById("ellmer-status").textContent = said.text;
  document.getElementById("ellmer-notice").textContent = said.notice;
  showChoices();
  list();
  underMessages();
});

// The self-contained page, to share where the device can, else to keep.
window.Shiny.addCustomMessageHandler("ellmer-download", async ({ title, html }) => {
  const name = `${title.replace(/[^\p{L}\p{N} -]/gu, "").trim() || "chat"}.html`;
  const file = new File([html], name, { type: "text/html" });
  if (matchMedia("(hover: none)").matches && navigator.canShare?.({ files: [file] })) {
    await navigator.share({ files: [file], title }).catch(() => {});
    return;
  }
  const address = URL.createObjectURL(file);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
});
