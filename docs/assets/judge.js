// The page of the judge: it sends the paste to the worker, and shows the verdict. Foreign text is only ever text.
"use strict";
(() => {
  const form = document.querySelector("form.judge");
  if (!form) return;
  const { paste, wire, provider, model, example, link } = form.elements;
  const state = form.querySelector(".judge-state"), bar = form.querySelector("progress");
  const verdict = document.querySelector(".judge-verdict");
  const address = (path) => new URL(path, location.href).href;
  const LONG = 2400, STRING = 160, LINE = 90;
  const EXAMPLE = `curl https://api.anthropic.com/v1/messages -H 'x-api-key: …' -d '{
  "model": "claude-sonnet-5", "max_tokens": 1024, "messages": [
    {"role": "user", "content": "What is the weather in Paris and in Rome?"},
    {"role": "assistant", "content": [
      {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}},
      {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {"city": "Rome"}}]},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "toolu_1", "content": "21 °C"}]}]}'`;
  let worker, started = false, providers = {}, asked = 0, due = 0;

  // Elements --------------------------------------------------------------------------------------------------

  const element = (name, attributes = {}, ...children) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children.filter((child) => child !== "" && child !== undefined));
    return made;
  };
  // Text with `code` between backticks.
  const prose = (text) => text.split("`").map((part, at) => at % 2 ? element("code", {}, part) : part);
  const json = (value) => element("pre", { tabIndex: 0 }, element("code", {}, JSON.stringify(value, null, 2)));
  const said = (term, ...content) => element("p", {}, element("strong", {}, `${term}: `), ...content);
  const folded = (title, ...content) => element("details", {}, element("summary", {}, title), ...content);

  // The request, with its wrong places marked ----------------------------------------------------------------------

  const under = (pointer, place) => pointer === place || pointer.startsWith(`${place}/`);
  const step = (key) => String(key).replaceAll("~", "~0").replaceAll("/", "~1");

  // The nearest place that exists: a missing key has none of its own.
  function existing(body, pointer) {
    const steps = pointer.split("/").slice(1);
    let value = body, place = "";
    for (const each of steps) {
      const key = each.replaceAll("~1", "/").replaceAll("~0", "~");
      if (value === null || typeof value !== "object" || !(key in value)) break;
      value = value[key];
      place += `/${each}`;
    }
    return place;
  }

  // A value as JSON with spaces, or nothing if a string in it is long.
  function oneLine(value) {
    if (typeof value === "string" && value.length > STRING) return "";
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    const parts = Object.entries(value).map(([key, each]) => [key, oneLine(each)]);
    if (!parts.every(([, text]) => text)) return "";
    return Array.isArray(value) ? `[${parts.map(([, text]) => text).join(", ")}]`
      : `{${parts.map(([key, text]) => `${JSON.stringify(key)}: ${text}`).join(", ")}}`;
  }

  function drawn(body, findings) {
    const marks = new Map();
    for (const finding of findings) {
      const place = existing(body, finding.pointer);
      marks.set(place, [...(marks.get(place) ?? []), finding]);
    }
    const places = [...marks.keys()], long = JSON.stringify(body).length > LONG;
    const plain = (value, place, inside) => {
      if (typeof value === "string" && value.length > STRING) return `${JSON.stringify(value.slice(0, STRING))} … ${value.length} characters`;
      if (value === null || typeof value !== "object") return JSON.stringify(value);
      const near = inside || places.some((mark) => under(mark, place));
      const line = near && places.some((mark) => under(mark, place) && mark !== place) ? "" : oneLine(value);
      if (line && line.length < LINE) return line;
      if (long && !near) return Array.isArray(value) ? "[ … ]" : "{ … }";
      return undefined;
    };
    const node = (value, place, indent, inside) => {
      const found = marks.get(place), within = inside || Boolean(found);
      const text = plain(value, place, within);
      const made = element("span", { className: found ? "judge-wrong" : "" });
      if (text !== undefined) made.append(text);
      else {
        const list = Array.isArray(value), entries = Object.entries(value);
        made.append(list ? "[" : "{");
        entries.forEach(([key, each], at) => {
          made.append(`\n${indent}  `, list ? "" : `${JSON.stringify(key)}: `);
          made.append(node(each, `${place}/${step(key)}`, `${indent}  `, within), at + 1 < entries.length ? "," : "");
        });
        made.append(entries.length ? `\n${indent}` : "", list ? "]" : "}");
      }
      const says = (found ?? []).flatMap((finding) =>
        [`\n${indent}`, element("span", { className: "judge-says" }, `▲ ${finding.rule}: ${finding.message}`)]);
      return element("span", {}, made, ...says); // the mark ends with the value
    };
    return element("pre", { className: "judge-request", tabIndex: 0 }, element("code", {}, node(body, "", "", false)));
  }

  // Findings ------------------------------------------------------------------------------------------------------

  const KIND = {
    reject: "The API refuses a request that breaks this rule.",
    loss: "The API may answer 200, but data is lost.",
    preview: "No recording or specification backs this rule yet, so it is only a warning.",
  };

  function about(rule) {
    const links = rule.evidence.filter((each) => each.startsWith("https://")).slice(0, 6);
    const parts = [
      rule.why && said("Why", ...prose(rule.why)),
      rule.fix && said("Fix", ...prose(rule.fix)),
      links.length && said("Evidence", ...links.flatMap((each, at) =>
        [at ? ", " : "", element("a", { href: each, rel: "noreferrer" }, new URL(each).host + new URL(each).pathname)])),
      rule.refused && folded("A request that is refused", json(rule.refused)),
      ...rule.legal.map((each) => folded("A request like it that is accepted", json(each))),
    ];
    return parts.filter(Boolean);
  }

  function card(rule, words, ...more) {
    const id = rule.page
      ? element("a", { href: address(form.dataset.rules + rule.page) }, rule.full_id) : rule.full_id;
    return element("article", { className: `judge-finding ${rule.outcome ?? ""}` },
      element("h3", {}, ...prose(words)),
      element("p", {}, id, ` · ${rule.provider ? `${rule.wire}, ${rule.provider}` : "any wire format"} · ${rule.level} · `, ...prose(rule.sentence)),
      element("p", { className: "facts" }, KIND[rule.kind] ?? ""), ...more, ...about(rule));
  }

  function finding(each) {
    const answer = each.answer
      ? [folded(`The API's answer, ${each.status}`, element("pre", { tabIndex: 0 }, element("code", {}, each.answer)))] : [];
    const place = each.pointer ? [said("Place", element("code", {}, each.pointer), ` ${each.message}`)] : [said("Problem", each.message)];
    const words = each.says ? `${each.status}: ${each.says}` : each.message;
    return card(each, words, ...place, ...answer);
  }

  function request(each, at, all) {
    const name = all.length > 1 ? `Request ${at + 1} of ${all.length}${each.place ? ` (${each.place})` : ""}: ` : "";
    if (each.reason) return element("p", {}, `${name}not judged, because ${each.reason}.`);
    const wrong = each.findings.filter((one) => one.outcome === "fail").length, others = each.findings.length - wrong;
    const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
    const result = each.findings.length
      ? [wrong && `${count(wrong, "broken rule")}`, others && `${count(others, "warning")}`].filter(Boolean).join(", ")
      : `no broken rule (${each.checked} had something to check)`;
    const where = `${each.wire}, ${each.provider}${each.model ? `, ${each.model}` : ""}`;
    const answered = each.answered ? ` It was answered ${each.answered}.` : "";
    const guessed = each.guessed ? " The text has no URL: choose another wire format if this one is wrong." : "";
    const head = [element("h2", {}, `${name}${result}`), element("p", { className: "facts" }, `Judged as ${where}.${answered}${guessed}`)];
    const content = [...each.findings.map(finding), drawn(each.body, each.findings)];
    if (all.length > 1 && !each.findings.length) return element("section", {}, ...head);
    return element("section", {}, ...head, ...(wrong ? [drawn(each.body, each.findings), ...content.slice(0, -1)] : content));
  }

  function show(found) {
    if (found.problem) return verdict.replaceChildren(element("p", {}, found.problem));
    const parts = found.requests.map(request);
    for (const match of found.matches ?? []) parts.push(card(match, match.says || match.sentence));
    if (!parts.length) parts.push(element("p", {}, "This is no request in a known form, and no rule has an error text like it."));
    const partial = found.partial ? ` Not judged: ${found.partial}.` : "";
    verdict.replaceChildren(element("p", { className: "facts" }, `The text is ${found.form}.${partial}`), ...parts);
  }

  // The worker ----------------------------------------------------------------------------------------------------

  async function start() {
    const { worker: begun, early } = await judgeStarted; // by a script in the head of the page
    worker = begun;
    worker.onmessage = ({ data }) => told(data);
    worker.onerror = (event) => failed(event.message);
    early.forEach(told);
  }

  function told(data) {
    if (data.loaded) return progress(data.loaded);
    if (data.providers) return ready(data.providers);
    if (data.failed) return failed(data.failed);
    if (data.id === asked) {
      state.textContent = "";
      show(data.verdict);
      verdict.dataset.asked = String(data.id);
    }
  }

  function progress(share) {
    bar.value = Math.min(1, share);
    state.textContent = share < 1 ? `Loading Python and the rules: ${Math.round(100 * share)} %` : "Starting Python …";
  }

  function failed(why) {
    bar.hidden = true;
    state.textContent = started ? `The judge failed: ${why}` : `The judge could not be loaded: ${why}`;
  }

  async function ready(names) {
    started = true;
    providers = names;
    bar.hidden = true;
    state.textContent = "Ready. It works offline from now on.";
    choices(wire, Object.keys(names));
    named();
    await pasted;
    restore();
    ask();
  }

  function choices(select, names) {
    const before = select.value;
    select.replaceChildren(select.options[0], ...names.map((name) => element("option", { value: name }, name)));
    select.value = names.includes(before) ? before : "";
  }

  const named = () => choices(provider, wire.value ? providers[wire.value] : [...new Set(Object.values(providers).flat())].sort());

  function ask() {
    if (!started) return;
    if (!paste.value.trim()) return verdict.replaceChildren();
    state.textContent = "Judging …";
    worker.postMessage({ id: ++asked, text: paste.value, wire: wire.value, provider: provider.value, model: model.value.trim() });
  }

  // Links ---------------------------------------------------------------------------------------------------------

  const through = async (data, stream) => new Uint8Array(await new Response(new Blob([data]).stream().pipeThrough(stream)).arrayBuffer());

  async function coded() {
    const data = await through(new TextEncoder().encode(paste.value), new CompressionStream("deflate-raw"));
    const text = btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(""));
    const chosen = { wire: wire.value, provider: provider.value, model: model.value };
    const fragment = new URLSearchParams({ paste: text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "") });
    for (const [name, value] of Object.entries(chosen)) if (value) fragment.set(name, value);
    return `${location.href.split("#")[0]}#${fragment}`;
  }

  let fragment = new URLSearchParams(location.hash.slice(1));

  async function unfolded() {
    paste.value = fragment.get("text") ?? paste.value;
    const text = fragment.get("paste");
    if (!text) return;
    try {
      const data = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
      paste.value = new TextDecoder().decode(await through(data, new DecompressionStream("deflate-raw")));
    } catch { state.textContent = "The link is damaged: a part of it is missing."; }
  }

  function restore() {
    wire.value = fragment.get("wire") ?? wire.value;
    named();
    provider.value = fragment.get("provider") ?? provider.value;
    model.value = fragment.get("model") ?? model.value;
    fragment = new URLSearchParams();
  }

  const soon = () => { clearTimeout(due); due = setTimeout(ask, 250); };
  paste.addEventListener("input", ({ inputType }) => inputType === "insertFromPaste" ? ask() : soon());
  model.addEventListener("input", soon);
  wire.addEventListener("change", () => { named(); ask(); });
  provider.addEventListener("change", ask);
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  example.addEventListener("click", () => { paste.value = EXAMPLE; ask(); });
  link.addEventListener("click", async () => {
    const url = await coded();
    history.replaceState(null, "", url);
    await navigator.clipboard?.writeText(url).catch(() => undefined);
    state.textContent = "The address of this page is now a link to this request, and it is copied.";
  });
  const pasted = unfolded(); // the worker need not wait for it
  start().catch((error) => failed(error.message));
})();
