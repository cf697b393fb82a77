"""Measures one library beside bare httpx. `bench.peers` runs it in the library's own environment, and it prints the
ratios as JSON."""

# ruff: noqa: T201 - it prints
from __future__ import annotations

import json
import sys

from .fast_server import WORDS
from .measure import side_by_side
from .subjects import SUBJECTS, bare


def main(name: str, url: str, times: int) -> None:
    (turn, stream), (their_turn, their_stream) = bare(url), SUBJECTS[name].programs(url)
    assert their_turn() == "Hello.", their_turn()
    assert their_stream() == "".join(WORDS)
    turns = side_by_side([turn, their_turn], 40 * times)
    streams = side_by_side([stream, their_stream], 3 * times)
    print(json.dumps({"turn": turns[1] / turns[0], "stream": streams[1] / streams[0]}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
