"""Every row of the table of service keys finds its own samples."""

import re
from pathlib import Path
from random import Random

import pytest

from ellmer_harness.secrets.key_patterns import ALPHABETS, PATTERNS
from ellmer_harness.secrets.service_keys import keys

SAMPLES = [(row, sample) for row in PATTERNS for sample in row.samples.split()]


def random_key(sample, seed):
    """Returns a key: a sample whose `{H32}` are random characters."""
    lots = Random(seed)
    return re.sub(
        r"\{([A-Z])(\d+)\}",
        lambda found: "".join(lots.choices(ALPHABETS[found[1]], k=int(found[2]))),
        sample,
    )


@pytest.mark.parametrize(("row", "sample"), SAMPLES, ids=[sample for _, sample in SAMPLES])
def test_a_row_finds_its_samples(row, sample):
    for seed in range(8):
        key = random_key(sample, seed)

        assert row.what in {what for what, _ in keys([key])}, key


def test_every_literal_of_a_row_is_in_a_sample():
    missing = [
        (row.what, literal)
        for row in PATTERNS
        for literal in row.literals.split()
        if literal not in row.samples
    ]
    assert missing == []


def test_every_row_has_a_source_on_the_page():
    """Each row has a line of its own with a link; the sources by month say which keys have none."""
    text = (Path(__file__).parents[3] / "docs" / "tested" / "secrets-evidence.md").read_text("utf-8")
    chapter = text.partition("## Sources, by month")[2].partition("\n## ")[0]
    lines = [line for line in chapter.splitlines() if line.startswith("|")]

    def is_told(what):
        own = [line for line in lines if line.startswith(f"| {what} | [")]
        name = what.partition(" ")[2].removesuffix(" key").removesuffix(" token")
        return own or any(name in line for line in lines)

    missing = [row.what for row in PATTERNS if not is_told(row.what)]
    assert missing == [], 'docs/tested/secrets-evidence.md, "Sources, by month", has no line about them'
