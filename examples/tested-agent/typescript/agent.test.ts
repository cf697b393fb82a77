import OpenAI from "openai";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answer } from "./agent";
// @ts-expect-error: the helper is plain JavaScript
import { startServer } from "../../llm-server-node/llm-server.mjs";

let server: Awaited<ReturnType<typeof startServer>>;
let client: OpenAI;

beforeEach(async () => {
  server = await startServer({ script: new URL("../answers.yaml", import.meta.url).pathname, strict: true });
  client = new OpenAI({ baseURL: server.baseUrls.openai, apiKey: server.key });
});
afterEach(() => server.stop());

test("it asks the tool", async () => {
  expect(await answer(client, "How is the weather in Paris?")).toBe("It is 21 °C in Paris.");
  const requests = await server.requests();
  expect(requests.at(-1).request.body.messages.at(-1)).toMatchObject({ role: "tool", content: "21" });
});

test("it tries again after a rate limit", async () => {
  expect(await answer(client, "Are you busy?")).toBe("Not any more.");
  const requests = await server.requests();
  expect(requests.map((each: { response: { status: number } }) => each.response.status)).toEqual([429, 200]);
});
