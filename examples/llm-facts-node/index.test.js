import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, facts } from "./index.js";

test("a refused parameter has its evidence", () => {
  const [cell] = ask({ provider: "openai", wire: "openai-chat", model: "gpt-5-mini", feature: "temperature" });
  assert.equal(cell.answer, "no");
  assert.match(cell.evidence[0].link, /^https:/);
});

test("what is not known is unknown", () => {
  const [cell] = ask({ provider: "openai", wire: "openai-responses", model: "gpt-5-mini", feature: "tools_129" });
  assert.deepEqual([cell.answer, cell.evidence], ["unknown", []]);
});

test("the data has its version", () => assert.equal(facts.version, 1));
