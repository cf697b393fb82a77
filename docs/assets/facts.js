// The table of the facts, and models side by side: both read table.json and show what fits the form. What has no cell is unknown.
// It has the same answers as facts.json, each text once, and the first proof of each answer.
"use strict";
(() => {
  const MOST = 300, MARKS = { yes: "✓ yes", no: "✗ no", ignored: "ignored", unknown: "?" };

  function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  const said = (cell) => [cell.evidence[0]?.words, cell.note].filter(Boolean).join(" ");

  function answered(cell) {
    const made = element("td", "", { class: cell.answer });
    const proof = cell.evidence[0], days = `${cell.since ? ` from ${cell.since}` : ""}${cell.until ? ` until ${cell.until}` : ""}`;
    const mark = (cell.inferred ? `≈ ${cell.answer}` : MARKS[cell.answer]) + days, safe = proof && /^https:/.test(proof.link);
    if (!safe && cell.note) made.title = cell.note;
    made.append(safe ? element("a", mark, { href: proof.link, title: said(cell) }) : mark);
    return made;
  }

  function row(cell) {
    const line = document.createElement("tr"), model = element("th", "", { scope: "row" });
    model.append(cell.wire === "*" || cell.model === "claude*" ? cell.model : element("a", cell.model, { href: `compare/?models=${encodeURIComponent(cell.model)}` }));
    line.append(model, element("td", cell.feature.replaceAll("_", " ")), answered(cell), element("td", cell.provider),
      element("td", cell.wire), element("td", said(cell).slice(0, 200)), element("td", cell.last_seen ?? ""));
    return line;
  }

  function shown(place, heads, rows) {
    const table = document.createElement("table"), head = document.createElement("tr"), body = document.createElement("tbody");
    head.append(...heads);
    body.append(...rows);
    table.append(document.createElement("thead"), body);
    table.firstChild.append(head);
    place.replaceChildren(table);
  }

  const headed = (text) => element("th", text, { scope: "col" });
  const read = async (form) => unpacked(await (await fetch(new URL(form.dataset.facts, location.href))).json());

  function unpacked(data) {
    const names = Object.keys(data.features), answers = Object.keys(MARKS);
    const cells = data.cells.map(([at, name, answer, ...texts]) => {
      const [wire, provider, model, family] = data.models[at], [link, words, note, since, until, last_seen] = texts.map((each) => data.texts[each]);
      return { wire, provider, model, family, feature: names[name] ?? data.texts[name - names.length], answer: answers[answer % answers.length], inferred: answer >= answers.length, note, since, until, last_seen, evidence: link ? [{ link, words }] : [] };
    });
    return { ...data, cells };
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
    const cells = [...all(await read(form))];
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
      shown(place, ["model", "feature", "answer", "provider", "wire format", "the API's words", "last seen"].map(headed), found.slice(0, MOST).map(row));
    };
    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    show();
  }

  // A column for each provider and wire format of each model, and a row for each feature.
  function sideBySide(data, names) {
    const columns = names.flatMap((name) => data.models.filter(([wire, , model]) => wire !== "*" && model.toLowerCase() === name));
    const known = new Map(data.cells.map((cell) => [[cell.wire, cell.provider, cell.model, cell.feature].join(" "), cell]));
    const at = (column, feature) => known.get([...column.slice(0, 3), feature].join(" ")) ?? { answer: "unknown", evidence: [] };
    const heads = columns.map(([wire, provider, model]) => {
      const head = headed(model);
      head.append(document.createElement("br"), element("small", `${provider}, ${wire}`));
      return head;
    });
    const rows = Object.entries(data.features).map(([feature, { title }]) => {
      const line = document.createElement("tr");
      line.append(element("th", title, { scope: "row" }), ...columns.map((column) => answered(at(column, feature))));
      return line;
    });
    const days = data.cells.filter((cell) => cell.feature === "available" && names.includes(cell.model.toLowerCase()));
    return { columns, heads: [headed("feature"), ...heads], rows, days };
  }

  async function compare(form) {
    const data = await read(form), names = [...new Set(data.models.filter(([wire]) => wire !== "*").map(([, , model]) => model))].sort();
    const count = document.querySelector(".facts-count"), place = document.querySelector(".facts-table");
    form.querySelector("datalist").append(...names.map((name) => element("option", "", { value: name })));
    const asked = new URLSearchParams(location.search).get("models");
    if (asked) form.elements.models.value = asked;
    const show = () => {
      const typed = form.elements.models.value, wanted = [...new Set(typed.toLowerCase().split(/[\s,]+/).filter(Boolean))];
      const { columns, heads, rows, days } = sideBySide(data, wanted);
      const strange = wanted.filter((name) => !columns.some((column) => column[2].toLowerCase() === name));
      const gone = days.map((cell) => `${cell.model} at ${cell.provider} is shut down on ${cell.since || cell.until}.`);
      count.textContent = [...strange.map((name) => `No model here is called ${name}.`), ...gone].join(" ");
      shown(place, heads, columns.length ? rows : []);
      history.replaceState(null, "", `?${new URLSearchParams({ models: wanted.join(",") })}`);
    };
    form.addEventListener("change", show);
    form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
    show();
  }

  document.querySelectorAll("form.facts").forEach((form) => (form.elements.models ? compare : start)(form));
})();
