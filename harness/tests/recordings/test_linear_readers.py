"""n pieces of a recording cost O(n): a file of n headers, secrets, events or interactions, four times as large, takes less than
eight times as long.
"""

import gc
import json
import random
import string
from base64 import b64encode
from pathlib import Path
from time import process_time

import pytest

from ellmer_harness.cli import main
from ellmer_harness.recordings import read

pytestmark = pytest.mark.invariants

URL = "https://api.openai.com/v1/chat/completions"
LETTERS = string.ascii_letters + string.digits
DRAWN = random.Random(35)
SHORTEST = 0.02  # seconds, below which the rest of a run counts for more than the pieces


def token(length=40):
    return "".join(DRAWN.choice(LETTERS) for _ in range(length))


def exchange(body="{}", answer="{}", kind="application/json", headers=(), **more):
    return {
        "request": {"method": "POST", "uri": URL, "headers": dict(headers), "body": body},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": [kind]},
            "body": {"string": answer},
            **more,
        },
    }


def asks(*content):
    return exchange(json.dumps({"model": "gpt-4.1", "messages": [], "x": content}))


def streams(*events):
    return exchange(
        answer="".join(f"data: {json.dumps(event)}\n\n" for event in events), kind="text/event-stream"
    )


def secrets(n):
    return asks(*(f"sk-proj-{token(48)}" for _ in range(n)))


def hidden(n):
    return asks(*(b64encode(f"api_key: sk-proj-{token(48)}".encode()).decode() for _ in range(n)))


def in_chunks(n):
    text = "".join(f"AIza{token(35)} " for _ in range(n))
    return exchange(answer=text, kind="text/plain", stream={"sizes": " ".join(["40"] * n)})


def har(n):
    pair = {"name": "accept", "value": "a" * 10}
    request = {
        "method": "POST",
        "url": URL,
        "headers": [pair] * n,
        "postData": {"mimeType": "application/json", "text": "{}"},
    }
    return {
        "log": {
            "entries": [
                {"startedDateTime": "2026-01-01T00:00:00Z", "request": request, "response": {"status": 200}}
            ]
        }
    }


FILES = {
    "interactions": (lambda n: [exchange(json.dumps({"model": "gpt-4.1", "user": token()})) for _ in range(n)], 150),
    "headers of one name": (har, 8000),
    "secrets": (secrets, 200),
    "secrets in base64": (hidden, 200),
    "secrets over chunks": (in_chunks, 250),
    "names that tell of secrets": (lambda n: asks(*({f"api_key_{at}": f"v{at}"} for at in range(n))), 1000),
    "names in the value of a name": (lambda n: asks("password=" * n), 600),
    "events with names of their own": (lambda n: streams(*({f"a{at}": f"b{at}"} for at in range(n))), 800),
    "a long list after short ones": (
        lambda n: streams(*({"l": ["a"]} for _ in range(n)), {"l": [f"b{at}" for at in range(n)]}),
        800,
    ),
    "blank lines": (lambda n: exchange(answer="\n" * n, kind="text/event-stream"), 10_000),
    "messages": (lambda n: exchange(json.dumps({"model": "gpt-4.1", "messages": [{"role": "user", "content": "a"}] * n})), 800),
}  # fmt: skip
READERS = {
    "read": lambda path, _: read(path),
    "scan": lambda path, _: main(["scan", str(path)]),
    "import": lambda path, out: main(["import", str(path), "--mask", "--overwrite", "--out", str(out)]),
    "diff": lambda path, _: main(["diff", str(path), str(path.with_name(f"other of {path.name}"))]),
}


def written(path: Path, value):
    if not (isinstance(value, dict) and "log" in value):
        value = {"version": 1, "interactions": value if isinstance(value, list) else [value]}
    path.write_text(json.dumps(value), encoding="utf-8")


def seconds(work):
    gc.collect()
    gc.disable()  # its time depends on what other tests left
    try:
        began = process_time()
        work()
        return process_time() - began
    finally:
        gc.enable()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FILES)
def test_n_pieces_cost_n(tmp_path, capsys, name, reader):
    made, size = FILES[name]
    use = READERS[reader]
    files = {n: tmp_path / f"{n}.json" for n in (3, size, 4 * size)}
    for n, path in files.items():
        written(path, made(n))
        written(path.with_name(f"other of {path.name}"), made(n))
    use(files[3], tmp_path / "out")  # what is imported and compiled once

    for _ in range(3):  # a busy machine disturbs the caches of the processor
        few, many = (seconds(lambda n=n: use(files[n], tmp_path / "out")) for n in (size, 4 * size))
        if many < 8 * max(few, SHORTEST):
            break
    capsys.readouterr()

    assert many < 8 * max(few, SHORTEST)
