// The table of the facts: it reads facts.json and shows what fits the form. What has no cell is unknown.
"use strict";
(() => {
  const MOST = 300, MARKS = { yes: "✓ yes", no: "✗ no", ignored: "ignored", unknown: "?" };

  function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function row(cell) {
    const line = document.createElement("tr"), answer = element("td", "", { class: cell.answer });
    const proof = cell.evidence[0], days = `${cell.since ? ` from ${cell.since}` : ""}${cell.until ? ` until ${cell.until}` : ""}`;
    const mark = MARKS[cell.answer] + days, safe = proof && /^https:/.test(proof.link);
    answer.append(safe ? element("a", mark, { href: proof.link }) : mark);
    line.append(element("th", cell.model, { scope: "row" }), element("td", cell.feature.replaceAll("_", " ")), answer, element("td", cell.provider),
      element("td", cell.wire), element("td", [proof?.words ?? "", cell.note ?? ""].join(" ").trim().slice(0, 200)), element("td", cell.last_seen ?? ""));
    return line;
  }

  function* all(data) {
    const known = new Set(data.cells.map((cell) => [cell.wire, cell.provider, cell.model, cell.feature].join(" ")));
    yield* data.cells;
    for (const [wire, provider, model, family] of data.models) {
      if (wire === "*" || model === "claude*") continue;
      for (const feature of Object.keys(data.features)) {
        if (!known.has([wire, provider, model, feature].join(" "))) yield { wire, provider, model, family, feature, answer: "unknown", evidence: [] };
      }
    }
  }

  async function start(form) {
    const data = await (await fetch(new URL(form.dataset.facts, location.href))).json(), cells = [...all(data)];
    const count = document.querySelector(".facts-count"), place = document.querySelector(".facts-table");
    for (const name of ["provider", "wire"]) {
      const values = [...new Set(cells.map((cell) => cell[name]))].sort();
      form.elements[name].append(...values.map((value) => element("option", value)));
    }
    for (const [name, value] of new URLSearchParams(location.search)) if (form.elements[name]) form.elements[name].value = value;
    const show = () => {
      const wanted = Object.fromEntries(new FormData(form)), model = wanted.model.trim().toLowerCase();
      const found = cells.filter((cell) => ["feature", "provider", "wire"].every((name) => !wanted[name] || cell[name] === wanted[name])
        && (wanted.answer ? cell.answer === wanted.answer : model || cell.answer !== "unknown") && (!model || cell.family === model || cell.model.toLowerCase().includes(model)));
      count.textContent = `${found.length.toLocaleString("en")} answers${found.length > MOST ? `, the first ${MOST} are shown` : ""}`;
      const table = document.createElement("table"), head = document.createElement("tr"), body = document.createElement("tbody");
      head.append(...["model", "feature", "answer", "provider", "wire format", "the API's words", "last seen"].map((name) => element("th", name, { scope: "col" })));
      body.append(...found.slice(0, MOST).map(row));
      table.append(document.createElement("thead"), body);
      table.firstChild.append(head);
      place.replaceChildren(table);
    };
    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    show();
  }
  document.querySelectorAll("form.facts").forEach(start);
})();
