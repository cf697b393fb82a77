// The search by error text on the page of the rules: words are compared, names and numbers are not, as in
// `conformance explain "text"` (conformance/ellmer_conformance/contract/error_texts/rules_by_error_text.py).
"use strict";
(() => {
  const VALUE = /\{\w*\}|'[^']*'|"[^"]*"|`[^`]*`|\b\w*\d[\w.-]*|[\w$]+(?:[.[][\w\].$[]+)+/g;
  const LEAST = 0.6, MOST = 5;
  const words = (text) => text.replace(VALUE, " * ").toLowerCase().match(/[a-z\u00c0-\u024f]+|\*/g) ?? [];

  function texts(text) {
    try {
      const found = [], walk = (value) => {
        if (typeof value === "string") { if (value.includes(" ")) found.push(value); }
        else if (value && typeof value === "object") Object.values(value).forEach(walk);
      };
      walk(JSON.parse(text));
      return found.length ? found : [text];
    } catch { return [text]; }
  }

  // 2 × the longest common subsequence, over both lengths
  function alike(one, other) {
    let row = new Uint16Array(other.length + 1);
    for (const word of one) {
      const next = new Uint16Array(other.length + 1);
      for (let j = 1; j <= other.length; j++) {
        next[j] = word === other[j - 1] ? row[j - 1] + 1 : Math.max(row[j], next[j - 1]);
      }
      row = next;
    }
    return 2 * row[other.length] / (one.length + other.length || 1);
  }

  async function start(form) {
    const input = form.querySelector("textarea"), list = form.querySelector("ol");
    const source = new URL(form.dataset.texts, location.href);
    const rules = (await (await fetch(source)).json()).map((rule) => ({ ...rule, known: rule.texts.map(words) }));
    const show = () => {
      const wanted = texts(input.value.trim()).map(words).filter((each) => each.length > 2);
      const score = (rule) => Math.max(0, ...wanted.flatMap((one) => rule.known.map((other) => alike(one, other))));
      const found = wanted.length ? rules.map((rule) => [score(rule), rule]) : [];
      found.sort((a, b) => b[0] - a[0]);
      list.replaceChildren(...found.filter(([each]) => each >= LEAST).slice(0, MOST).map(([, rule]) => entry(rule)));
      if (wanted.length && !list.children.length) list.append("No rule has an error text like this.");
    };
    let due = 0;
    input.addEventListener("input", () => { clearTimeout(due); due = setTimeout(show, 200); });
    form.addEventListener("submit", (event) => event.preventDefault());
    show();
  }

  function entry(rule) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = rule.page;
    link.textContent = rule.id;
    item.append(link, ` ${rule.wire}: ${rule.sentence}`);
    return item;
  }

  for (const form of document.querySelectorAll("form.find-rule")) start(form);
})();
