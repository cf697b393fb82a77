"""Sends spans of OpenTelemetry for a conversation with a tool. Here they are kept in memory; a program of yours has an exporter.

It prints:

    invoke_agent: no tokens
    chat gpt-5.6-terra: … tokens in, … out
    execute_tool get_weather: no tokens
    chat gpt-5.6-terra: … tokens in, … out
    words in the spans: False
"""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ellmer_core import chat_openai, tool


@tool
def get_weather(city: str) -> str:
    """Looks up the weather in a city."""
    return f"21 °C in {city}"


def main() -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)

    chat = chat_openai(model="gpt-5.6-terra")
    chat.register_tool(get_weather)
    chat.chat("What is the weather in Köln?")

    spans = sorted(kept.get_finished_spans(), key=lambda span: span.start_time or 0)
    for span in spans:
        used = span.attributes or {}
        taken, made = (used.get(f"gen_ai.usage.{side}_tokens") for side in ("input", "output"))
        shown = f"{taken} tokens in, {made} out" if span.name.startswith("chat") else "no tokens"
        print(f"{span.name}: {shown}")
    print("words in the spans:", any("Köln" in str(dict(span.attributes or {})) for span in spans))


if __name__ == "__main__":
    main()
