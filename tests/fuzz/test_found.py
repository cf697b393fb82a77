"""Files that once broke a reader, and a few mutations of the legal ones. `nox -s fuzz` tries thousands."""

from pathlib import Path
from random import Random

import pytest

from .judgement import Found, Reader, judge
from .mutations import SECRET, mutated
from .readers import READERS

FOUND = sorted(Path(__file__).with_name("found").glob("*/*"))


@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
@pytest.mark.parametrize("file", FOUND, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_what_once_broke_a_reader_does_not_break_it(file, tmp_path):
    judge(READERS[file.parent.name], file.read_bytes(), tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
@pytest.mark.parametrize("name", READERS)
def test_no_mutation_breaks_a_reader(name, tmp_path):
    reader, chance = READERS[name], Random(name)
    for _ in range(40):
        judge(reader, mutated(chance.choice(reader.seeds()), chance), tmp_path)


def reader_that(read):
    return Reader("a.json", list, read)


WRONG = {
    "shows an escape": lambda _: "a\x1b[2J",
    "shows a command": lambda _: "a\n  ::error::b",
    "reads another file": lambda path: (path.parents[1] / SECRET).read_text("utf-8")[:0],
    "shows another file": lambda _: "secret-of-another-file",
    "writes elsewhere": lambda path: str((path.parents[1] / "b").write_text("", "utf-8")),
}


@pytest.mark.parametrize("read", WRONG.values(), ids=WRONG)
def test_a_reader_that_does_what_none_may_do_is_found(read, tmp_path):
    with pytest.raises(Found):
        judge(reader_that(read), b"", tmp_path)


def test_a_right_reader_is_not_found(tmp_path):
    judge(reader_that(lambda path: path.read_text("utf-8")), b"a", tmp_path)
