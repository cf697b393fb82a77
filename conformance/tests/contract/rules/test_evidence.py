"""Sources and evidence: every rule has something that can be opened, and links and recordings are well formed."""

import json
import re
import tomllib
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli import _group
from ellmer_conformance.contract import rules
from ellmer_conformance.contract.readers import _HOSTS
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.live_apis.probe import server_rules
from ellmer_conformance.recordings.corpus import evidence, evidence_search, pins
from ellmer_conformance.recordings.corpus.evidence import Citation, addresses, evidence_of

PINS = {pin.name: pin for pin in pins.load(pins.shipped())}

#: A source that is no page, and the rules that may have it; their docstrings say why. Find a page before you add a rule.
DECIDED = "This project decided it."
WITHOUT_A_PAGE = {"REQ-107", "RUN-001", "TXT-001", "TXT-002", "SRV-033", "SRV-034"}


def books():
    """Returns every wire format's book, of its own provider and of each known provider."""
    for wire in rules.WIRES:
        author = rules.book(wire)
        yield author
        yield from (rules.book(wire, provider) for provider in sorted({*_HOSTS.values()} - {author.provider}))


def every_rule():
    """Every rule of a client and of a server, with its book."""
    for book in [*books(), behaviour.book, server_rules.book]:
        yield from ((book, rule) for rule in book.rules.values())


def test_every_rule_has_a_page_or_says_that_this_project_decided_it():
    without = [(book, rule) for book, rule in every_rule() if not addresses(book, rule)]
    assert {rule.id for _, rule in without} <= WITHOUT_A_PAGE, "name a link as their source"
    assert all(rule.source == (DECIDED,) and rule.explain.startswith("Why: ") for _, rule in without)


def test_every_behaviour_and_server_rule_says_why():
    told = [*behaviour.book.rules.values(), *server_rules.book.rules.values()]
    silent = [rule.id for rule in told if not rule.explain.startswith("Why: ")]
    assert len(told) > 100
    assert not silent, "say in one sentence of the docstring why the rule is useful"


@pytest.mark.parametrize("wire", rules.WIRES)
def test_every_rule_that_refuses_rests_on_something_that_can_be_opened(wire):
    of_wire = [book for book in books() if book.wire == wire]
    refusing = [(book, rule) for book in of_wire for rule in book.rules.values() if rule.refuses]
    nothing = [f"{book.provider} {rule.id}" for book, rule in refusing if not evidence_of(book, rule)]
    assert refusing
    assert not nothing, (
        "name a link as their source, add one to evidence.toml, or make them previews: " + ", ".join(nothing)
    )


@pytest.mark.parametrize("wire", rules.WIRES)
def test_no_rule_that_refuses_rests_on_hearsay(wire):
    hearsay = re.compile(r"\b(reports?|memory|measured|others)\b", re.IGNORECASE)
    told = [
        f"{book.provider} {rule.id}: {source}"
        for book in books()
        if book.wire == wire
        for rule in book.rules.values()
        if rule.refuses
        for source in rule.source
        if hearsay.search(evidence.LINK.sub("", source))
    ]
    assert not told, "name the link that says it, or make the rule a preview: " + "; ".join(told)


def entries():
    return [
        (wire, provider, rule, each)
        for wire in rules.WIRES
        for provider, by_rule in evidence._data(wire).items()
        for rule, told in by_rule.items()
        for each in told
    ]


def test_evidence_is_of_rules_that_there_are():
    for wire, provider, rule, _ in entries():
        assert rule in rules.book(wire, provider).rules, f"{wire} at {provider} has no rule {rule}"
        assert rules.book(wire, provider).provider == provider


def test_links_are_well_formed():
    links = {each for *_, each in entries() if isinstance(each, str)}
    links |= {
        link for _, rule in every_rule() for source in rule.source for link in evidence.LINK.findall(source)
    }
    assert len(links) > 400
    for link in links:
        parts = urlsplit(link)
        assert re.fullmatch(r"https://[\w.-]+\.[a-z]+(/[\w.~%!$&'()*+,;=:@/-]*)?(#[\w.-]+)?", link), link
        assert parts.scheme == "https", link
        if parts.netloc == "github.com":
            thread = r"/[\w.-]+/[\w.-]+(/(issues|pull)/\d+)?"
            assert re.fullmatch(rf"{thread}|/[\w.-]+/[\w.-]+/(blob|commits)/[\w.-]+/.+", parts.path), link


def test_cited_recordings_are_in_pinned_archives():
    cited = [each for *_, each in evidence.citations()]
    assert cited
    for each in cited:
        assert PINS[each.pin].takes(each.member), f"{each.member} is no recording of {each.pin}"
        assert re.fullmatch(r"(/\w+)+", each.place), each.place


def test_the_book_of_a_provider_rests_on_the_author_where_it_refuses_the_same():
    author, azure = rules.book("openai-chat"), rules.book("openai-chat", "azure")
    assert author.rules["SYS-004"].refusal == azure.rules["SYS-004"].refusal
    assert evidence_of(azure, azure.rules["SYS-004"]) == evidence_of(author, author.rules["SYS-004"])


def test_explain_shows_where_a_recording_can_be_opened(monkeypatch, tmp_path):
    monkeypatch.setenv("CONFORMANCE_CORPUS", str(tmp_path))
    citation = next(each for each in evidence_of_responses("ORD-008") if isinstance(each, Citation))
    said = CliRunner().invoke(_group, ["explain", "ORD-008", "--wire", "openai-responses"]).output
    assert (
        f"  {citation.member} {citation.place} of {citation.pin}: https://inspector.pypi.io/project/" in said
    )
    assert "Recorded:" not in said


def test_explain_prints_the_exchange_where_the_corpus_is_fetched(monkeypatch, tmp_path):
    monkeypatch.setenv("CONFORMANCE_CORPUS", str(tmp_path))
    citation = next(each for each in evidence_of_responses("ORD-008") if isinstance(each, Citation))
    member = tmp_path / citation.pin / citation.member
    member.parent.mkdir(parents=True)
    at = int(citation.place.rpartition("/")[2])
    entry = """
- request: {method: POST, uri: 'https://api.openai.com/v1/responses', headers: {}, body: '{"model": "gpt-5"}'}
  response: {status: {code: 400, message: ''}, headers: {}, body: {string: '{"error": {"message": "No."}}'}}"""
    member.write_text("version: 1\ninteractions:" + entry * (at + 1))
    from ellmer_conformance.recordings.corpus import pins

    pins.seal(tmp_path / citation.pin, PINS[citation.pin])
    said = CliRunner().invoke(_group, ["explain", "ORD-008", "--wire", "openai-responses"]).output
    assert "Recorded:\nPOST https://api.openai.com/v1/responses" in said
    assert '"message": "No."' in said


def evidence_of_responses(id):
    book = rules.book("openai-responses")
    return evidence_of(book, book.rules[id])


def test_evidence_is_found_by_looking(monkeypatch, tmp_path):
    """A rule without evidence gets a refusal with its text; a rule with evidence does not."""
    monkeypatch.setattr(
        evidence_search, "evidence_of", lambda book, rule: [] if rule.id == "SYS-004" else ["https://x.org"]
    )
    words = "Unsupported value: 'messages[0].role' does not support 'system' with this model."
    error = {
        "message": words,
        "type": "invalid_request_error",
        "param": "messages[0].role",
        "code": "unsupported_value",
    }
    body = {"model": "o1-mini", "messages": [{"role": "system", "content": "Be brief."}]}
    interaction = {
        "source": {"repo": "a/b", "commit": "c" * 40, "path": "tests/x [1].yaml"},
        "request": {
            "method": "POST",
            "url": "https://api.openai.com/v1/chat/completions",
            "headers": {},
            "body": body,
        },
        "response": {"status": 400, "headers": {}, "body": {"error": error}},
    }
    (tmp_path / "record.json").write_text(json.dumps({"interactions": [interaction, interaction]}))
    found = evidence_search.looked_for([], [tmp_path])
    link = f"https://github.com/a/b/blob/{'c' * 40}/tests/x%20%5B1%5D.yaml"
    assert {place: dict(by_rule) for place, by_rule in found.items()} == {
        ("openai-chat", "openai"): {"SYS-004": [link]}
    }


def test_evidence_that_was_found_is_written_beside_the_rules(monkeypatch, tmp_path):
    monkeypatch.setattr(evidence_search, "files", lambda _: tmp_path)
    (tmp_path / "openai_chat").mkdir()
    (tmp_path / "openai_chat" / "evidence.toml").write_text(
        '# kept\n\n[openai]\nREQ-001 = ["https://a.org"]\n'
    )
    citation = Citation("a-1", "tests/b.yaml", "/interactions/0")
    assert (
        evidence_search.written(
            {("openai-chat", "openai"): {"REQ-002": [citation, "https://b.org"], "REQ-003": [citation]}}
        )
        == 3
    )
    text = (tmp_path / "openai_chat" / "evidence.toml").read_text()
    assert text.startswith("# kept\n")
    assert 'REQ-003 = [\n    {pin = "a-1", member = "tests/b.yaml", place = "/interactions/0"},\n]' in text
    assert tomllib.loads(text) == {
        "openai": {
            "REQ-001": ["https://a.org"],
            "REQ-002": [vars(citation), "https://b.org"],
            "REQ-003": [vars(citation)],
        }
    }
