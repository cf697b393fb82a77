"""The sources of an answer for each provider: citations on the text, which are sent back unchanged."""

import json
import re

import pytest
from traffic.recorded import absent, interactions

import ellmer_core as ec
from ellmer_core.contents.content import ContentCitation, ContentText
from ellmer_core.contents.json_serialization import contents_record, contents_replay
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.conversation.history import merged
from ellmer_core.conversation.response import turn_of
from ellmer_core.providers.perplexity import Perplexity
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

TEXT, URL = "Žito roste v Čechách.", "https://w.test/a"
FLAT = {"type": "url_citation", "url": URL, "title": "Rye", "start_index": 0, "end_index": 4}
NESTED = {
    "type": "url_citation",
    "url_citation": {"url": URL, "title": "Rye", "start_index": 0, "end_index": 4},
}
CLAUDE = {
    "type": "web_search_result_location",
    "url": URL,
    "title": "Rye",
    "cited_text": "Rye grows.",
    "encrypted_index": "E",
}
PAGE = {"type": "page_location", "document_title": "Book", "cited_text": "Rye.", "document_index": 0,
        "start_page_number": 1, "end_page_number": 2}  # fmt: skip
COHERE = {"start": 0, "end": 4, "text": "Žito", "sources": [
    {"type": "document", "id": "d", "document": {"title": "Rye", "url": URL, "snippet": "Rye grows."}},
    {"type": "tool", "id": "t:0", "tool_output": {"output": "5"}}]}  # fmt: skip
AWS = {
    "location": {"web": {"url": URL, "domain": "w.test"}},
    "title": "Rye",
    "sourceContent": [{"text": "Rye grows."}],
}
GROUNDS = {"groundingChunks": [{"web": {"uri": URL, "title": "Rye"}}],
           "groundingSupports": [{"segment": {"startIndex": 0, "endIndex": 5, "text": "Žito"}, "groundingChunkIndices": [0, 7]}]}  # fmt: skip

HERE = ContentCitation(URL, "Rye", "", 0, 4)
ALL = ContentCitation(URL, "Rye", "Rye grows.")

CASES = {
    "openai-chat": (
        OpenAIChat(model="m"),
        {"choices": [{"message": {"content": TEXT, "annotations": [NESTED]}, "finish_reason": "stop"}]},
        [HERE], NESTED),
    "openai-responses": (
        OpenAIResponses(model="m"),
        {"status": "completed", "output": [{"type": "message", "id": "m1", "content": [
            {"type": "output_text", "text": TEXT, "annotations": [
                FLAT, {"type": "file_citation", "file_id": "f", "filename": "a.txt", "index": 9}]}]}]},
        [HERE, ContentCitation(title="a.txt")], FLAT),
    "anthropic": (
        AnthropicMessages(model="m"),
        {"content": [{"type": "text", "text": TEXT, "citations": [CLAUDE, PAGE]}], "stop_reason": "end_turn"},
        [ALL, ContentCitation(title="Book", quote="Rye.")], CLAUDE),
    "gemini": (
        Gemini(model="m"),
        {"candidates": [{"content": {"parts": [{"text": TEXT}]}, "finishReason": "STOP", "groundingMetadata": GROUNDS}]},
        [HERE], None),
    "cohere": (
        CohereChat(model="m"),
        {"message": {"content": [{"type": "text", "text": TEXT}], "citations": [COHERE]}, "finish_reason": "COMPLETE"},
        [ContentCitation(URL, "Rye", "Rye grows.", 0, 4), ContentCitation(title="t:0", quote="5", start=0, end=4)], COHERE),
    "bedrock": (
        Bedrock(model="anthropic.claude-x"),
        {"output": {"message": {"content": [{"citationsContent": {"content": [{"text": TEXT}], "citations": [AWS]}}]}},
         "stopReason": "end_turn"},
        [ALL], AWS),
    "perplexity": (
        Perplexity(model="perplexity/sonar"),
        {"status": "completed", "output": [
            {"type": "search_results", "results": [{"id": 1, "url": URL, "title": "Rye", "snippet": "Rye grows."}]},
            {"type": "message", "id": "m1", "content": [{"type": "output_text", "text": TEXT, "annotations": []}]}]},
        [ALL], None),
    "sonar": (
        OpenAIChat(model="sonar"),
        {"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}],
         "search_results": [{"url": URL, "title": "Rye", "snippet": "Rye grows."}], "citations": [URL]},
        [ALL], None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_citations_are_on_the_text_they_belong_to_and_go_back_as_they_came(case):
    wire, response, expected, replayed = case
    turn = wire.turn(response)
    [text] = [content for content in turn.contents if isinstance(content, ContentText)]

    assert (text.text, list(text.citations)) == (TEXT, expected)
    saved = contents_replay(json.loads(json.dumps(contents_record(turn))))
    assert saved.contents[0].citations == text.citations
    for said in (turn, saved):
        body = wire.request([UserTurn("Hi"), said, UserTurn("More")]).json
        assert replayed is None or json.dumps(replayed) in json.dumps(body)


def test_sources_behind_a_text_of_nova_are_on_it_and_go_back_as_they_came():
    grounds = {
        "citationsContent": {"citations": [{"location": {"web": {"url": URL, "domain": "example.com"}}}]}
    }
    wire = Bedrock(model="us.amazon.nova-2-lite-v1:0")
    turn = wire.turn(
        {"output": {"message": {"content": [{"text": TEXT}, grounds]}}, "stopReason": "end_turn"}
    )

    assert turn.contents[0].citations == (ContentCitation(URL, "example.com"),)
    assert turn.text == TEXT
    sent = wire.request([UserTurn("Hi"), turn, UserTurn("More")]).json["messages"][1]["content"]
    assert sent == [{"text": TEXT}, grounds]
    shown = [str(turn), ec.contents_markdown(turn), ec.contents_html(turn)]
    assert all("unknown" not in form and "citationsContent" not in form for form in shown)
    elsewhere = (
        AnthropicMessages(model="claude-sonnet-4-5").request([UserTurn("Hi"), turn, UserTurn("More")]).json
    )
    assert elsewhere["messages"][1]["content"] == [{"type": "text", "text": TEXT}]
    llama = Bedrock(model="meta.llama4-scout-17b-instruct-v1:0")
    assert {"text": ""} not in llama.request([UserTurn("Hi"), turn, UserTurn("More")]).json["messages"][1][
        "content"
    ]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_another_provider_gets_the_words_alone(case):
    wire, response, _, _ = case
    turn = wire.turn(response)

    for other, *_ in CASES.values():
        if other.name != wire.name:
            body = json.dumps(
                other.request([UserTurn("Hi"), turn, UserTurn("More")]).json, ensure_ascii=False
            )
            assert TEXT in body
            assert URL not in body


JUNK = [
    None,
    7,
    "x",
    [None],
    [7],
    [{}],
    [{"type": "url_citation", "url_citation": 3}],
    [{"sources": 3}],
    {"a": 1},
]


@pytest.mark.parametrize("junk", JUNK, ids=str)
@pytest.mark.parametrize(
    "name", ["openai-chat", "openai-responses", "cohere", "gemini", "perplexity", "sonar"]
)
def test_citations_that_make_no_sense_lose_no_answer(name, junk):
    wire, response, _, _ = CASES[name]
    response = json.loads(json.dumps(response))
    places = {
        "openai-chat": lambda r: r["choices"][0]["message"].update(annotations=junk),
        "openai-responses": lambda r: r["output"][0]["content"][0].update(annotations=junk),
        "cohere": lambda r: r["message"].update(citations=junk),
        "gemini": lambda r: r["candidates"][0].update(groundingMetadata=junk, citationMetadata=junk),
        "perplexity": lambda r: r["output"][0].update(results=junk),
        "sonar": lambda r: r.update(search_results=junk, citations=junk),
    }
    places[name](response)

    assert wire.turn(response).text == TEXT


def test_google_counts_bytes_from_the_part_and_sometimes_wrongly():
    def cited(segment, *parts):
        grounds = {"groundingChunks": GROUNDS["groundingChunks"],
                   "groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]}]}  # fmt: skip
        candidate = {"content": {"parts": [{"text": p} for p in parts]}, "groundingMetadata": grounds}
        turn = Gemini(model="m").turn({"candidates": [{**candidate, "finishReason": "STOP"}]})
        return [(c.text[x.start : x.end], x.start) for c in turn.contents for x in c.citations]

    assert cited({"startIndex": 6, "endIndex": 11, "text": "roste"}, TEXT) == [("roste", 5)]
    assert cited({"startIndex": 900, "endIndex": 905, "text": "roste"}, TEXT) == [("roste", 5)]
    assert cited({"endIndex": 2, "text": "Čechy"}, "no", "Čechy") == [("Čechy", 0)]
    assert cited({"text": "elsewhere"}, TEXT) == [(TEXT, None)]


def test_texts_that_are_joined_keep_their_citations_in_their_places():
    whole = ContentCitation(URL)
    [text] = merged(
        [ContentText("ab"), ContentText("cde", citations=(whole,)), ContentText("f", citations=(HERE,))]
    )

    assert [(c.start, c.end) for c in text.citations] == [(2, 5), (5, 9)]


CITED = ContentText(
    TEXT, citations=(HERE, ContentCitation(URL, "again"), ContentCitation(quote="Old *words*"))
)
BAD = ContentText(
    "x",
    citations=(ContentCitation("javascript:alert(1)", "<b>]("), ContentCitation("https://a.test/<x> y", "T")),
)


def test_sources_are_shown_once_each():
    assert str(CITED) == f"{TEXT}\n[source 1]: Rye <{URL}>\n[source 2]: Old *words*"
    assert ec.contents_markdown(CITED) == f"{TEXT}\n\n**Sources**\n\n1. [Rye]({URL})\n2. Old \\*words\\*"
    html = ec.contents_html(CITED)
    assert f'<a href="{URL}" target="_blank" rel="noopener noreferrer">Rye</a>' in html
    assert html.count("<li>") == 2
    assert str(AssistantTurn([CITED])).endswith("Old *words*")
    assert "Sources" in str(ec.contents_shinychat(CITED))
    assert str(HERE) == f"[source]: Rye <{URL}>"
    assert ec.contents_markdown(HERE) == f"Source: [Rye]({URL})"


PARTS = [
    ContentText("Rye "),
    ContentText("grows in **Bohemia**", citations=(ContentCitation("https://a.test", "Fields"),)),
    ContentText(
        ", and wheat too.", citations=(ContentCitation("https://b.test"), ContentCitation("https://a.test"))
    ),
]
CLOSED = {
    "code": "run `a b` now",
    "a link": "see [this page](https://c.test) now",
    "a formula": r"as \(a+b\) is",
    "a tag": "as <b>this</b>",
}


def test_what_is_cited_has_the_number_of_its_source():
    html = ec.contents_html([AssistantTurn(PARTS)])
    link = '<sup><a href="https://{}.test" target="_blank" rel="noopener noreferrer" aria-label="Source {}">{}</a></sup>'

    assert (
        f"<strong>Bohemia</strong>{link.format('a', 1, 1)}, and wheat too.{link.format('a', 1, 1)}\u202f{link.format('b', 2, 2)}"
        in html
    )
    assert html.count('<p class="sources">') == 1
    [shown] = ec.contents_shinychat([AssistantTurn(PARTS)])
    assert "Rye grows in **Bohemia**<sup>[1](https://a.test)</sup>, and wheat too." in shown.content
    assert shown.content.count("Sources") == 1


@pytest.mark.parametrize("text", CLOSED.values(), ids=CLOSED)
def test_a_mark_is_no_part_of_something_else(text):
    for end in range(len(text)):
        cited = ContentText(text, citations=(ContentCitation(URL, start=0, end=end),))
        html = ec.contents_html(cited)
        assert html.count(">1</a></sup>") == 1
        without = re.sub("<sup>.*?</sup>", "", html).partition('<p class="sources">')[0]
        assert without == ec.contents_html(ContentText(text)) + "\n"


def test_a_block_of_code_has_no_mark_and_a_model_writes_none():
    code = ContentText("```\nrye\n```", citations=(ContentCitation(URL, start=0, end=6),))
    forged = ContentText("[\ue0001] x", citations=(ContentCitation(URL),))

    assert "<sup>" not in ec.contents_html(code)
    assert "<sup>" not in ec.contents_html(forged)
    assert "<sup>" not in ec.contents_html(ec.ContentThinking("[\ue0001] x"))


def test_a_source_runs_no_code():
    html, markdown = ec.contents_html(BAD), ec.contents_markdown(BAD)

    assert "javascript:" not in html
    assert "<b>" not in html
    assert "javascript:" not in markdown
    assert "](https://a.test/%3Cx%3E%20y)" in markdown


def cites(interaction):
    said = interaction["response"].get("body")
    text = json.dumps(said) if said is not None else interaction["response"].get("text") or ""
    return '"url_citation"' in text or '"cited_text"' in text or '"groundingSupports"' in text


@absent
def test_recorded_answers_with_citations_have_them():
    wires = {"openai-responses": OpenAIResponses, "anthropic-messages": AnthropicMessages, "gemini": Gemini,
             "openai-chat": OpenAIChat, "cohere-v2": CohereChat}  # fmt: skip
    seen = {}
    for name, interaction, _ in interactions():
        wire = wires.get(interaction["protocol"])
        body = interaction["response"].get("body")
        if wire is None or not cites(interaction) or not isinstance(body, dict):
            continue
        text = json.dumps(
            body.get("output") or body.get("content") or body.get("candidates") or body.get("choices")
        )
        if not any(word in text for word in ('"url_citation"', '"cited_text"', '"groundingSupports"')):
            continue
        turn = wire(model="m").turn(body)
        citations = [c for t in turn.contents if isinstance(t, ContentText) for c in t.citations]
        assert citations, name
        assert all(c.url or c.title or c.quote for c in citations), name
        seen.setdefault(interaction["protocol"], 0)
        seen[interaction["protocol"]] += 1
    assert {"openai-responses", "anthropic-messages", "gemini", "openai-chat"} <= seen.keys()


def test_half_a_character_beside_sources_costs_no_answer():
    chunks = [{"web": {"uri": "https://a.example"}}]
    support = {"segment": {"startIndex": 0, "endIndex": 2, "text": "hi"}, "groundingChunkIndices": [0]}
    candidate = {
        "content": {"parts": [{"text": "hi \ud83d"}]},
        "finishReason": "STOP",
        "groundingMetadata": {"groundingChunks": chunks, "groundingSupports": [support]},
    }
    turn = turn_of(Gemini(model="m"), {"candidates": [candidate]})

    assert [(c.start, c.end) for c in turn.contents[0].citations] == [(0, 2)]
    assert turn.text == "hi \ufffd"


@pytest.mark.parametrize("letters", ["ab", "äb", "€ä", "😀b"])
@pytest.mark.parametrize("before", [0, 31, 32, 40, 200])
def test_places_of_sources_are_counted_in_characters(letters, before):
    start = len((letters * before).encode())
    segment = {"startIndex": start, "endIndex": start + len(letters.encode()), "text": letters}
    candidate = {
        "content": {"parts": [{"text": letters * (before + 3)}]},
        "groundingMetadata": {
            "groundingChunks": [{"web": {"uri": "https://a.example"}}],
            "groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]}],
        },
    }
    cited = turn_of(Gemini(model="m"), {"candidates": [candidate]}).contents[0].citations[0]

    assert (cited.start, cited.end) == (before * len(letters), (before + 1) * len(letters))
