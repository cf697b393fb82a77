"""The rule for an error text is found, whatever names and numbers it contains."""

import json

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rules_by_error_text import known_texts, matches

TEXTS = {
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: call_99": (
        "openai-chat",
        {"ORD-002", "PAIR-001"},
    ),
    "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_9. Each `tool_use` "
    "block must have a corresponding `tool_result` block in the next message.": (
        "anthropic",
        {"PAIR-001", "ORD-001"},
    ),
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn.": ("gemini", {"PAR-003"}),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_leads_to_its_rules(text):
    wire, expected = TEXTS[text]
    found = {match.rule.id for match in matches(text, [rules.book(wire)])}
    assert expected <= found


def test_an_error_body_is_read():
    text, (wire, expected) = next(iter(TEXTS.items()))
    body = json.dumps({"error": {"message": text, "type": "invalid_request_error", "param": None}})
    assert expected <= {match.rule.id for match in matches(body, [rules.book(wire)])}


def test_other_words_lead_nowhere():
    assert not matches("The printer has no paper.", [rules.book("openai-chat")])


def test_each_refusal_of_a_format_leads_back_to_its_rule():
    book = rules.book("gemini")
    lost = []
    for rule in book.rules.values():
        texts = [text for text in known_texts(book, rule) if len(text.split()) > 5] if rule.refusal else []
        lost += [
            rule.id for text in texts[:1] if rule.id not in {match.rule.id for match in matches(text, [book])}
        ]
    assert not lost
