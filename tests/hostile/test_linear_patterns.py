"""n letters cost O(n): each regular expression of the three packages and of the judge's page, called as the code calls it, on texts that are
made from it to make it go back and forth.
"""

import os
import re
import signal
from contextlib import contextmanager
from itertools import islice
from time import process_time

import pytest
from pattern_attacks import applied, attacks, of_package, patterns

pytestmark = pytest.mark.invariants

SCALE = int(os.environ.get("INVARIANTS", "0"))
SLOW = 0.02  # seconds of the processor for a text; what takes less is not compared
MOST = 3.0  # times as long for twice the letters
WITHOUT_END = 8.0  # seconds of the processor, after which more letters would tell nothing new
LETTERS = 4000
PLACES = {
    "ellmer_core": lambda: of_package("ellmer_core"),
    "ellmer_harness": lambda: of_package("ellmer_harness"),
    "ellmer_conformance": lambda: of_package("ellmer_conformance"),
    "the judge": lambda: of_package("ellmer_conformance.recordings.pastes"),
}
#: Expressions for texts that are short, that are cut before, or that are our own; and those that are matched at one place of a text, in a loop
#: that this test does not see.
SHORT = (
    r"\{\{(.*?)\}\}",
    *(
        "explain._ID",
        "lint_report._NAMES",
        "lint_report._PLAIN",
        "propose._FOLDER",
        "(Why|Fix): ",
        "s(?=[?])",
    ),
    *(
        "media_description._STREAM",
        "results._VALUES",
        "rows._PASSING",
        "similarity._VALUE",
        "service_request._FIELD",
    ),
    *("user_words._LIST", "user_words._SENTENCE_END", r"(?<=[.?!\n])\s+(?=\S)", r"[\s:=$€£#]*$"),
    *(f"named_credentials.{name}" for name in ("_BEFORE", "_ASSIGNED", "_QUOTED", "_SPACED", "_NEXT_VALUE")),
    "tables._CELL",
)


def seconds(use, text):
    began = process_time()
    use(text)
    return process_time() - began


@contextmanager
def stopped():
    """Raises TimeoutError in an expression that takes all the processor's time that any may."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, WITHOUT_END)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def slow_attack(pattern, method):
    """Returns a text that takes long, and more than three times as long as half of it, also when it is tried again, and when both are four
    times as long: an expression with a bound of 2,000 letters costs the same for each letter from there on.
    """
    use = applied(pattern, method)
    for n, text in enumerate(attacks(pattern, LETTERS)):
        try:
            with stopped():
                if seconds(use, text) > SLOW and all(
                    grows(use, pattern, n, size) for size in (LETTERS, 4 * LETTERS)
                ):
                    return text
        except TimeoutError:
            return text
    return None


def grows(use, pattern, n, size):
    text, half = (next(islice(attacks(pattern, letters), n, None)) for letters in (size, size // 2))
    return all(seconds(use, text) > MOST * seconds(use, half) for _ in range(3))


@pytest.mark.parametrize("place", PLACES)
def test_no_pattern_goes_back_and_forth(place, record_property):
    if place == "ellmer_conformance" and not SCALE:
        pytest.skip("nox -s invariants")
    used = [row for row in PLACES[place]() if not str(row[0]).endswith(SHORT)]
    tried = sum(sum(1 for _ in attacks(pattern, LETTERS)) for _, pattern, _ in used)
    slow = [
        (name, method, text[:40]) for name, pattern, method in used if (text := slow_attack(pattern, method))
    ]
    record_property("cases", tried)
    assert tried > 500
    assert slow == []


@pytest.mark.parametrize("package", ["ellmer_core", "ellmer_harness", "ellmer_conformance"])
def test_no_group_is_possessive(package):
    """Python 3.11.2 keeps what such a group has read of a repetition that failed (python/cpython#100061): `(?>(?:…)*)` instead of `(?:…)*+`."""
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")
    texts = {name: pattern.pattern for name, pattern in patterns(package).items()}

    assert [name for name, text in texts.items() if isinstance(text, str) and possessive.search(text)] == []


@pytest.mark.parametrize("expression", [r"```[ \t]*\w*\s*\n(.*?)\n?\s*```", r"\\+(?=['\"])", r"\S*\d\S*"])
def test_an_expression_that_goes_back_and_forth_is_found(expression, monkeypatch):
    monkeypatch.setattr(f"{__name__}.WITHOUT_END", 1.0)
    assert slow_attack(re.compile(expression, re.DOTALL), "finditer")  # as they were
