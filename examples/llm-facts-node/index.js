// The facts as a call: `ask({ model: "gpt-5-mini", feature: "temperature", provider: "openai" })`.
import { readFileSync } from "node:fs";

export const facts = JSON.parse(readFileSync(new URL("facts.json", import.meta.url), "utf8"));

/** Returns the cells that fit all given names. What has no cell is unknown, and is a cell without evidence. */
export function ask(wanted) {
  const fits = (cell) => Object.entries(wanted).every(([name, value]) => cell[name] === value);
  const known = facts.cells.filter(fits), has = new Set(known.map(place));
  return [...known, ...unknown(wanted).filter((cell) => fits(cell) && !has.has(place(cell)))];
}

const place = (cell) => JSON.stringify([cell.wire, cell.provider, cell.model, cell.feature]);

function unknown({ feature, answer }) {
  if (!(feature in facts.features) || (answer && answer !== "unknown")) return [];
  return facts.models.filter(([wire]) => wire !== "*")
    .map(([wire, provider, model, family]) => ({ wire, provider, model, family, feature, answer: "unknown", evidence: [] }));
}
