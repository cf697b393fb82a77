"""A file that the provider has deleted: the turn gets the file itself, and keeps the rest."""

from ellmer_core import AssistantPartialTurn, AssistantTurn, ContentPDF, ContentUploaded, Tokens, UserTurn
from ellmer_core.conversation.request import expiring, sent_along

PDF = ContentPDF("application/pdf", "JVBERi0xLjQ=")
GOES = ContentUploaded(
    "file-1", "application/pdf", "openai-responses", "OpenAI", expires_at=1000.0, source=PDF
)
STAYS = ContentUploaded("file-2", "application/pdf", "openai-responses", "OpenAI", source=PDF)


def test_a_turn_keeps_what_else_it_says():
    facts = {
        "tokens": Tokens(3, 4),
        "finish_reason": "success",
        "json": {"id": "a"},
        "cost": 0.5,
        "duration": 1.0,
    }

    assert sent_along(AssistantTurn(["Here:", GOES], **facts), 1000.0) == AssistantTurn(
        ["Here:", PDF], **facts
    )
    cut = sent_along(AssistantPartialTurn([GOES], reason="max_tokens", **facts), 1000.0)
    assert (cut.reason, cut.tokens, cut.json) == ("max_tokens", Tokens(3, 4), {"id": "a"})


def test_a_file_that_is_still_there_stays_a_name():
    turn = UserTurn(["Look.", GOES, STAYS])

    assert sent_along(turn, 900.0) is turn
    assert sent_along(turn, 940.0).contents[1:] == (PDF, STAYS)


def test_only_a_file_with_an_end_and_a_source_is_looked_after():
    assert expiring([STAYS, GOES])
    assert not expiring([STAYS])
    assert not expiring([ContentUploaded("file-3", "application/pdf", "openai-responses", expires_at=1000.0)])
