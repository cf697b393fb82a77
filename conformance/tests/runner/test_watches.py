"""Places where a key is printed or logged, while a library's own threads print."""

import sys
import weakref

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


def test_what_threads_write_to_outlives_the_conversation(capsys):
    with watching_prints():
        written_to = weakref.ref(sys.stdout)

    assert written_to() is not None  # a thread that prints when it is freed crashes the process
