"""Measures one library beside bare httpx, in the library's own environment: `python bench/one.py NAME URL TIMES`
prints the seconds as JSON."""

# ruff: noqa: T201 - it prints
from __future__ import annotations

import json
import sys

from measure import side_by_side
from server import WORDS
from subjects import SUBJECTS, bare


def main(name: str, url: str, times: int) -> None:
    (turn, stream), (their_turn, their_stream) = bare(url), SUBJECTS[name].programs(url)
    assert their_turn() == "Hello.", their_turn()
    assert their_stream() == "".join(WORDS)
    turns = side_by_side([turn, their_turn], 40 * times)
    streams = side_by_side([stream, their_stream], 3 * times)
    print(json.dumps({"turn": turns[1] / turns[0], "stream": streams[1] / streams[0]}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
