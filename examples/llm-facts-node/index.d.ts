export type Answer = "yes" | "no" | "ignored" | "unknown";

export interface Evidence {
  /** `elsewhere` is a recording of the model under another name, or of another model, which the note names. */
  kind: "accepted" | "refused" | "elsewhere" | "rule" | "profile" | "document";
  link: string;
  /** The words of the API, or of the document. */
  words?: string;
  day?: string;
  /** JSON pointer in the recorded request, or the id of a rule. */
  place?: string;
  /** What the page of a rule says, if it is the refusal of something else by the same check. */
  quote?: string;
}

export interface Cell {
  feature: string;
  model: string;
  family: string;
  /** The wire format; an asterisk stands for all. */
  wire: string;
  provider: string;
  answer: Answer;
  evidence: Evidence[];
  since?: string;
  until?: string;
  last_seen?: string;
  note?: string;
  /** The evidence is about another model of the same API, or about something else that the same check refuses. */
  inferred?: true;
}

export interface Facts {
  version: 1;
  features: Record<string, { title: string; group: string }>;
  /** By wire format and feature, a request that uses the feature. */
  examples: Record<string, Record<string, object>>;
  /** Wire format, provider, model and family. */
  models: [string, string, string, string][];
  cells: Cell[];
}

export declare const facts: Facts;

/** Returns the cells that fit all given names. With a feature, what has no cell is returned as unknown. */
export declare function ask(
  wanted: Partial<Pick<Cell, "feature" | "model" | "family" | "wire" | "provider" | "answer">>,
): Cell[];
