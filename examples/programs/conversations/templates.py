"""A template, a JSON Schema and a file: a report is summarized in several languages, and the conversation becomes a web page.

It prints:

    tokens of the question: …
    Czech: …
    German: …
    {'title': …, 'pages': …}
    exported: True, with 2 turns
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from ellmer_core import (
    chat_openai,
    content_file,
    contents_markdown,
    export,
    interpolate_file,
    type_from_schema,
)

SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "pages": {"type": "integer"}},
    "required": ["title", "pages"],
    "additionalProperties": False,
}


def main(folder: Path) -> None:
    template, report = folder / "prompt.md", folder / "report.md"
    template.write_text("Summarize the report in {{ language }}, in one sentence.", "utf-8")
    report.write_text("# Cats\n\nCats sleep. The report has 12 pages.", "utf-8")

    chat = chat_openai("You are a careful editor.", model="gpt-4.1")
    question = interpolate_file(template, language="Czech")
    print("tokens of the question:", chat.token_count(question, content_file(report)))
    for language in ("Czech", "German"):
        fork = chat.fork()
        print(f"{language}:", fork.chat(interpolate_file(template, language=language), content_file(report)))

    print(chat.chat_structured("The report Cats has 12 pages.", type=type_from_schema(SCHEMA)))
    turns = [turn for turn in chat.get_turns() if turn.role != "system"]
    page = export(chat, folder / "report.html", title="The report")
    assert turns[0].text in (contents_markdown(turns[0]) or "")
    print(f"exported: {Path(page).exists()}, with {len(turns)} turns")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder))
