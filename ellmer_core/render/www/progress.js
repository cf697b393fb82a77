// <ellmer-progress call="ID"> shows what the tool of that call says while it runs. What was said is kept, since
// shinychat may draw the line of a call anew at any time; a live region reads it out.
(() => {
  const said = new Map();
  const live = document.createElement("div");
  live.className = "visually-hidden";
  live.setAttribute("role", "status");
  live.setAttribute("aria-label", "Tool progress");

  class Progress extends HTMLElement {
    connectedCallback() {
      this.textContent = said.get(this.getAttribute("call")) ?? "";
      this.style.cssText = "margin-inline-start: 0.5em; font-style: italic";
    }
  }
  customElements.define("ellmer-progress", Progress);

  window.Shiny.addCustomMessageHandler("ellmer-progress", ({ call, text }) => {
    said.set(call, text);
    document.querySelectorAll("ellmer-progress").forEach((line) => line.connectedCallback());
    if (!live.isConnected) (document.querySelector("main") ?? document.body).append(live);
    live.textContent = text;
  });
})();
