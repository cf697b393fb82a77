// A weather agent with the SDK of OpenAI.
import OpenAI from "openai";

const CELSIUS: Record<string, number> = { Paris: 21, Oslo: -3 };
const TOOL = {
  type: "function" as const,
  function: {
    name: "get_weather",
    description: "Returns the temperature in a city, in degrees Celsius.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/** Answers a question, and calls the tool as often as the model wants. */
export async function answer(client: OpenAI, question: string): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: question }];
  for (;;) {
    const found = await client.chat.completions.create({ model: "gpt-4.1", messages, tools: [TOOL] });
    const message = found.choices[0].message;
    if (!message.tool_calls?.length) return message.content ?? "";
    messages.push(message);
    for (const call of message.tool_calls) {
      if (call.type !== "function") continue;
      const { city } = JSON.parse(call.function.arguments) as { city: string };
      messages.push({ role: "tool", tool_call_id: call.id, content: String(CELSIUS[city] ?? "unknown") });
    }
  }
}
