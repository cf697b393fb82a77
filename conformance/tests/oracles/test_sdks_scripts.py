"""What a script contains besides texts and calls is read by the official SDKs."""

from contextlib import ExitStack

import anthropic
import openai
from google import genai
from servers.script_contents import DATA, ENTRIES, PAGE

from ellmer_conformance.server import StrictServer


def test_the_sdks_read_choices_sounds_and_refusals_of_chat_completions():
    with (
        StrictServer(script=[*({"when": {"user": name}, **ENTRIES[name]} for name in ENTRIES)]) as server,
        ExitStack() as stack,
    ):
        client = stack.enter_context(openai.OpenAI(base_url=f"{server.origin}/v1", api_key="k"))

        def ask(text, **more):
            messages = [{"role": "user", "content": text}]
            return client.chat.completions.create(model="gpt-4.1", messages=messages, **more)

        choices = ask("choices").choices
        assert [(each.message.content, each.finish_reason) for each in choices] == [
            ("Lisbon", "stop"),
            ("Madrid", "stop"),
            ("Porto", "length"),
        ]
        message = ask("audio").choices[0].message
        assert (message.audio.transcript, message.audio.data, message.content) == ("Meow meow.", DATA, None)
        assert ask("refusal").choices[0].message.refusal == "I cannot help."
        texts = ["", "", ""]
        for chunk in ask("choices", stream=True):
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
        assert texts == ["Lisbon", "Madrid", "Porto"]


def test_the_sdk_reads_server_tools_and_images_of_responses():
    include = ["code_interpreter_call.outputs", "web_search_call.action.sources"]
    with (
        StrictServer(script=[*({"when": {"user": name}, **ENTRIES[name]} for name in ENTRIES)]) as server,
        ExitStack() as stack,
    ):
        client = stack.enter_context(openai.OpenAI(base_url=f"{server.origin}/v1", api_key="k"))

        def ask(text):
            with client.responses.stream(model="gpt-4.1", input=text, include=include) as stream:
                return stream.get_final_response().output

        assert ask("image")[0].result == DATA
        assert ask("code")[0].outputs[0].logs == "42"
        assert ask("search")[0].action.sources[0].url == PAGE["url"]
        assert ask("refusal")[0].content[0].refusal == "I cannot help."


def test_the_sdks_of_anthropic_and_google_read_them():
    with (
        StrictServer(script=[*({"when": {"user": name}, **ENTRIES[name]} for name in ENTRIES)]) as server,
        ExitStack() as stack,
    ):
        claude = stack.enter_context(anthropic.Anthropic(base_url=server.origin, api_key="k"))

        def ask(text):
            messages = [{"role": "user", "content": text}]
            with claude.messages.stream(model="claude-sonnet-5", max_tokens=99, messages=messages) as stream:
                return stream.get_final_message()

        assert ask("refusal").stop_reason == "refusal"
        assert ask("refusal").content == []
        assert ask("code").content[1].content.stdout == "42"
        assert ask("citations").content[0].citations[0].url == PAGE["url"]

        google = genai.Client(api_key="k", http_options={"base_url": server.origin})
        made = google.models.generate_content(model="gemini-3.5-flash", contents="image")
        assert made.candidates[0].content.parts[0].inline_data.data == b"RIFF"
        found = google.models.generate_content(model="gemini-3.5-flash", contents="choices")
        assert [each.content.parts[0].text for each in found.candidates] == ["Lisbon", "Madrid", "Porto"]
