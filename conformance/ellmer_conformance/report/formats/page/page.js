"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const verdictName = (v) => data.verdicts[v][0];
const mark = (v) => data.verdicts[v][1];
const NOTHING = data.verdicts.length - 1; // not-applicable, the best of all
const TONES = { "harness-error": "ours", fail: "bad", "not-testable": "bad", "unexpected-pass": "bad", "expected-fail": "soso", warn: "soso" };
const tone = (v) => TONES[verdictName(v)] || "";
const rows = data.rows.map(([play, rule, verdict, checked, proof, follows]) => {
  const [place, name, mode] = data.plays[play];
  return { play, place, case: name, mode, rule: data.rules[rule], verdict, checked, follows, proof: data.evidence[proof] };
});
let byRule = false;

// elements: el("p.faint", "text", child, …); text is only ever text
function el(kind, ...children) {
  const [name, ...classes] = kind.split(".");
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}
function button(kind, text, action) {
  const made = el(kind, text);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}
const placeName = ([, wire, provider]) => `${wire} / ${provider}`;
const worst = (list) => list.reduce((low, row) => Math.min(low, row.verdict), NOTHING);

// filters ------------------------------------------------------------------------------------------------
function options(id, values, all) {
  $(id).replaceChildren(new Option(all, ""), ...values.map((value) => new Option(value, value)));
  $(id).addEventListener("change", draw);
  $(id).parentElement.hidden = values.length < 2 && id === "adapter";
}
const unique = (values) => [...new Set(values)];
options("adapter", unique(data.places.map((p) => p[0])), "all");
options("wire", unique(data.places.map((p) => p[1])), "all");
options("level", ["MUST", "SHOULD", "preview"], "all");
options("group", unique(rows.map((r) => r.rule.id.split("-")[0])).sort(), "all");
options("verdict", ["failed", ...data.verdicts.slice(0, -1).map((v) => v[0])], "all");
$("search").addEventListener("input", draw);
$("filters").addEventListener("reset", () => setTimeout(draw));
$("filters").addEventListener("submit", (event) => event.preventDefault());
for (const [id, value] of [["by-case", false], ["by-rule", true]]) {
  $(id).addEventListener("click", () => {
    byRule = value;
    $("by-case").setAttribute("aria-pressed", String(!byRule));
    $("by-rule").setAttribute("aria-pressed", String(byRule));
    draw();
  });
}
function wanted(row) {
  const [adapter, wire] = data.places[row.place];
  const level = row.rule.preview ? "preview" : row.rule.level;
  const verdict = $("verdict").value;
  const text = `${data.cases[row.case]} ${row.rule.id} ${row.rule.sentence}`.toLowerCase();
  return (!$("adapter").value || $("adapter").value === adapter)
    && (!$("wire").value || $("wire").value === wire)
    && (!$("level").value || $("level").value === level)
    && (!$("group").value || row.rule.id.startsWith(`${$("group").value}-`))
    && (!verdict || (verdict === "failed" ? tone(row.verdict) : verdictName(row.verdict) === verdict))
    && text.includes($("search").value.toLowerCase());
}

// the matrix ---------------------------------------------------------------------------------------------
function draw() {
  const shown = rows.filter(wanted);
  const places = unique(shown.map((row) => row.place)).sort((a, b) => a - b);
  const keyOf = byRule ? (row) => row.rule.id : (row) => row.case;
  const lines = new Map();
  for (const row of shown) {
    const key = keyOf(row);
    if (!lines.has(key)) lines.set(key, new Map());
    const cells = lines.get(key);
    if (!cells.has(row.place)) cells.set(row.place, []);
    cells.get(row.place).push(row);
  }
  const keys = [...lines.keys()].sort((a, b) => (byRule ? a.localeCompare(b) : a - b));
  const several = unique(data.places.map((p) => p[0])).length > 1;
  const head = el("tr", column(byRule ? "Rule" : "Case"), ...places.map((p) => heading(data.places[p], several)));
  const body = keys.map((key) => el("tr", title(key, lines.get(key)), ...places.map((p) => cell(key, p, lines.get(key).get(p)))));
  $("matrix").replaceChildren(el("caption", byRule ? "Rules by wire format" : "Cases by wire format"), el("thead", head), el("tbody", ...body));
  const first = $("matrix").querySelector("button");
  if (first) first.tabIndex = 0;
  $("count").textContent = `${shown.length.toLocaleString("en")} verdicts on ${unique(shown.map((r) => r.rule.id)).length} rules in ${unique(shown.map((r) => r.case)).length} cases`;
}
function column(text) {
  const made = el("th", text);
  made.scope = "col";
  return made;
}
function heading(place, several) {
  const made = column(place[1]);
  made.append(el("small", place[2]), ...(several ? [el("small", place[0])] : []));
  return made;
}
function title(key, cells) {
  const made = el("th", byRule ? key : data.cases[key]);
  made.scope = "row";
  if (byRule) {
    const rule = [...cells.values()][0][0].rule;
    made.append(el("small", `${rule.preview ? "preview" : rule.level} · `, ...ticked(rule.sentence)));
  }
  return made;
}
function cell(key, place, found) {
  if (!found) return el("td.not-applicable", "·");
  const low = worst(found);
  const made = button(`button.cell${tone(low) ? `.${tone(low)}` : ""}`, "", () => open(key, place, found));
  if (byRule) {
    const bad = found.filter((row) => row.verdict === low).length;
    made.append(el(`span.${verdictName(low)}`, mark(low)), el("small", ` ${tone(low) ? `${bad}/` : ""}${found.length}`));
  } else {
    data.modes.forEach((_, mode) => {
      const verdict = worst(found.filter((row) => row.mode === mode));
      made.append(el(`span.${verdictName(verdict)}`, mark(verdict)));
    });
  }
  made.tabIndex = -1;
  const name = byRule ? key : data.cases[key];
  made.setAttribute("aria-label", `${name}, ${placeName(data.places[place])}: ${verdictName(low)}`);
  made.title = byRule ? verdictName(low) : data.modes.map((m, i) => `${m}: ${verdictName(worst(found.filter((r) => r.mode === i)))}`).join("\n");
  return el("td", made);
}
$("matrix").addEventListener("keydown", (event) => {
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  if (!steps[event.key] || event.target.tagName !== "BUTTON") return;
  event.preventDefault();
  const [down, right] = steps[event.key];
  const lines = [...$("matrix").tBodies[0].rows];
  let y = event.target.closest("tr").sectionRowIndex, x = event.target.closest("td").cellIndex;
  for (y += down, x += right; lines[y] && lines[y].cells[x]; y += down, x += right) {
    const next = lines[y].cells[x].querySelector("button");
    if (next) {
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      return next.focus();
    }
  }
});

// what a cell opens --------------------------------------------------------------------------------------
function open(key, place, found) {
  show(`${byRule ? key : data.cases[key]} · ${placeName(data.places[place])}`,
    [...(byRule ? ruleText(found[0].rule) : []), ...findings(found), ...fine(found), ...transcripts(found)]);
}
function show(title, parts) {
  $("detail-title").textContent = title;
  $("detail-body").replaceChildren(...parts);
  $("detail").showModal();
  $("detail").scrollTop = 0;
}
$("close").addEventListener("click", () => $("detail").close());
$("detail").addEventListener("click", (event) => event.target === $("detail") && $("detail").close());

function ruleText(rule) {
  const level = rule.preview ? `${rule.level}, preview: reported, but never a failure, because evidence is missing` : rule.level;
  const kind = rule.kind === "reject" ? "the API refuses a request that breaks the rule" : "the API may answer 200, but data is lost";
  return [el("h3", `${rule.id} · `, ...ticked(rule.sentence)), el("p.where", `${level}; ${kind}.`),
    ...(rule.explain ? [wrapped(rule.explain)] : []),
    ...(rule.source.length ? [el("p.label", "Source"), el("ul.sources", ...rule.source.map((each) => el("li", ...linked(each))))] : [])];
}
// an http or https address is a link, everything else is text
function linked(text) {
  return text.split(/(https?:\/\/[^\s()]+)/).map((part, i) => (i % 2 ? link(part) : part));
}
function link(address) {
  const made = el("a", address);
  made.href = address;
  made.target = "_blank"; // the report stays open
  made.rel = "noreferrer noopener";
  return made;
}
function wrapped(text) {
  return el("pre.wrap", ...ticked(text));
}
// what stands between backticks is code
function ticked(text) {
  return text.split(/`([^`\n]+)`/).map((part, i) => (i % 2 ? el("code", part) : part));
}
function findings(found) {
  const causes = alike(found.filter((row) => !row.follows)).map(finding);
  const follow = alike(found.filter((row) => row.follows)).map(finding);
  if (!follow.length || !causes.length) return [...causes, ...follow];
  return [...causes, el("details.follow", el("summary", `What follows from it: ${follow.length}`), ...follow)];
}
function alike(found) { // by what was found: the same mistake in four modes is one
  const alike = new Map();
  for (const row of found.filter((each) => each.proof)) {
    const id = [row.rule.id, row.verdict, row.proof.message, row.proof.pointer].join("\n");
    if (!alike.has(id)) alike.set(id, []);
    alike.get(id).push(row);
  }
  return [...alike.values()].sort((a, b) => a[0].verdict - b[0].verdict);
}
function finding(group) {
  const { rule, proof, verdict } = group[0];
  const where = unique(group.map((row) => `${data.cases[row.case]}[${data.modes[row.mode]}]`));
  const parts = [el("p", el(`b.${verdictName(verdict)}`, `${mark(verdict)} ${verdictName(verdict)}`), ` ${rule.id} (${rule.level})`)];
  if (!byRule) parts.push(el("p", ...ticked(rule.sentence)));
  parts.push(wrapped(proof.message || verdictName(verdict)), el("p.where", `At ${proof.pointer || "the top"}, in ${where.join(", ")}`));
  if (proof.excerpt) parts.push(el("p.label", "The request there"), excerpt(proof.excerpt));
  if (proof.provider_error) parts.push(el("p.label", `The provider would answer (${proof.status})`), wrapped(proof.provider_error));
  if (proof.reason) parts.push(el("p.label", "Expected by the baseline"), el("p", `${proof.reason} (${proof.issue})`));
  if (!byRule && rule.explain) parts.push(el("details", el("summary", "Why, and how to fix it"), wrapped(rule.explain)));
  if (proof.exchange) parts.push(el("details", el("summary", "The whole exchange"), el("pre", proof.exchange)));
  if (proof.page) parts.push(el("p", "The rule: ", ...linked(proof.page)));
  parts.push(el("p.label", "Commands: explain, run again, reproduce"), ...proof.commands.map(command));
  return el(`div.finding${tone(verdict) ? `.${tone(verdict)}` : ""}`, ...parts);
}
function excerpt(text) {
  const made = el("pre");
  for (const line of text.split("\n")) made.append(line.startsWith(">") ? el("span.here", line) : `${line}\n`);
  return made;
}
function command(text) {
  const copy = button("button", "Copy", () => navigator.clipboard.writeText(text).then(() => { copy.textContent = "Copied"; }));
  copy.setAttribute("aria-label", `Copy: ${text}`);
  return el("div.command", el("pre.wrap", text), copy);
}
function fine(found) {
  const names = new Map();
  for (const row of found.filter((each) => !each.proof)) {
    const name = byRule ? `${data.cases[row.case]}[${data.modes[row.mode]}]` : row.rule.id;
    const had = names.get(name);
    names.set(name, { verdict: Math.min(row.verdict, had ? had.verdict : NOTHING), checked: row.checked + (had ? had.checked : 0), sentence: row.rule.sentence });
  }
  if (!names.size) return [];
  const items = [...names].sort(([a], [b]) => a.localeCompare(b)).map(([name, { verdict, checked, sentence }]) => {
    const item = el("li", el(`span.${verdictName(verdict)}`, `${mark(verdict)} `), `${name} `, el("small", `met ${checked}×`));
    if (!byRule) item.title = sentence;
    return item;
  });
  const made = el("details", el("summary", `Kept: ${names.size}`), el("ul.plain", ...items));
  made.open = !found.some((row) => row.proof);
  return [made];
}
function transcripts(found) {
  const by = new Map(); // text: where
  for (const row of found) {
    const shown = data.plays[row.play][5];
    if (shown < 0) continue;
    if (!by.has(shown)) by.set(shown, new Set());
    by.get(shown).add(`${data.cases[row.case]}[${data.modes[row.mode]}]`);
  }
  const all = [...by].slice(0, 40).map(([shown, names]) => el("details", el("summary", [...names].join(", ")), el("pre", data.transcripts[shown])));
  if (all.length === 1) all[0].open = true;
  const from = unique(found.map((row) => data.plays[row.play]).filter((p) => p[3]).map((p) => `${p[3]} (${p[4] || "not opened"})`));
  return [...(all.length ? [el("h3", "Transcript")] : []), ...all,
    ...(from.length ? [el("p.label", `Recorded in ${from.slice(0, 4).join(", ")}${from.length > 4 ? " …" : ""}`)] : [])];
}

// what failed --------------------------------------------------------------------------------------------
const SHOWN = 20;
function failures() {
  const failed = alike(rows.filter((row) => ["bad", "ours"].includes(tone(row.verdict)) && !row.follows));
  $("failures").hidden = !failed.length;
  $("failures-title").textContent = `What failed: ${failed.length}`;
  $("failed").replaceChildren(...failed.slice(0, SHOWN).map(failure));
  if (failed.length > SHOWN) $("failed").append(el("li.more", `… and ${failed.length - SHOWN} more: below, by verdict`));
}
function failure(group) {
  const { rule, proof, verdict, place } = group[0];
  const where = unique(group.map((row) => `${placeName(data.places[row.place])} / ${data.cases[row.case]}`));
  const made = button("button.failure", "", () => show(`${rule.id} · ${placeName(data.places[place])}`, [...ruleText(rule), ...findings(beside(group))]));
  made.append(el(`b.${verdictName(verdict)}`, `${mark(verdict)} ${rule.id}`), " ", ...ticked((proof.message || verdictName(verdict)).split("\n")[0]),
    el("small", `${where.slice(0, 2).join(", ")}${where.length > 2 ? ` and ${where.length - 2} more` : ""}`));
  return el("li", made);
}
// a group, and what follows from it in the same plays
function beside(group) {
  const plays = new Set(group.map((row) => row.play));
  return [...group, ...rows.filter((row) => row.follows && plays.has(row.play))];
}

// around the matrix --------------------------------------------------------------------------------------
const states = ["Every rule is kept.", "Rules are broken.", "Some cases could not be judged."];
$("state").append(el("b", states[data.exit]), ` Requirements ${data.requirements} · ${data.tool.name} ${data.tool.version}`);
$("scores").append(...data.score.map(([name, text, counts]) =>
  el(`li${counts.must_passed < counts.must_applicable ? ".short" : ""}`, el("span", name), text)));
$("problems").append(...data.problems.map((problem) => el("li", problem)));
$("legend").append(...data.verdicts.filter((_, v) => v === NOTHING || rows.some((row) => row.verdict === v))
  .map(([name, sign]) => el("span", el(`b.${name}`, sign), ` ${name}`)),
  el("span", `In a cell, by case: ${data.modes.join(" · ")}; by rule: verdicts.`));
if (data.skipped.length) $("skipped").append(el("h2", "Cases a wire format cannot express"),
  el("ul", ...data.skipped.map((s) => el("li", `${s.adapter}, ${s.wire}, ${s.case}: ${s.reason}`))));
failures();
draw();
