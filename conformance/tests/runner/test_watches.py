"""Places where a key is printed or logged, while a library's own threads print."""

import logging
import sys
import weakref

import pytest

from ellmer_conformance.runner.watches import watching_prints
from ellmer_conformance.scenarios.canary_keys import CANARY


def test_a_key_is_noted_in_the_conversation_that_printed_it_and_in_no_later_one(capsys):
    with watching_prints() as first:
        sys.stdout.write(f"{CANARY}\n")
    with watching_prints() as second:
        sys.stdout.write("nothing\n")
        sys.stderr.write(f"{CANARY}\n")

    assert (first, second) == (["standard output"], ["standard error"])
    assert capsys.readouterr().out == f"{CANARY}\nnothing\n"


@pytest.mark.parametrize("own", [logging.NOTSET, logging.DEBUG])
def test_transports_say_each_step_only_to_those_who_ask_for_it_and_levels_are_as_before(own, monkeypatch):
    root, transport, handler = logging.getLogger(), logging.getLogger("httpcore"), logging.NullHandler()
    monkeypatch.setattr(root, "handlers", [handler])
    monkeypatch.setattr(transport, "level", own)
    before = [root.level, handler.level, transport.level]

    with watching_prints():
        inside = [root.level, handler.level, transport.level]

    assert inside == [logging.DEBUG, max(before[0], before[1]), own or logging.INFO]
    assert [root.level, handler.level, transport.level] == before
    assert root.handlers == [handler]


def test_what_threads_write_to_outlives_the_conversation(capsys):
    with watching_prints():
        written_to = weakref.ref(sys.stdout)

    assert written_to() is not None  # a thread that prints when it is freed crashes the process
