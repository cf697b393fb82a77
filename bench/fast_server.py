"""A fast server with one answer: an answer of OpenAI's, or a stream of one. `serving()` runs it in a separate process,
which prints its URL.
"""

# ruff: noqa: S603, T201 - it runs itself, and prints
from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EVENTS = 2000
WORDS = [f"word{n} " for n in range(EVENTS)]
USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
HEAD = {
    "id": "chatcmpl-BxYz0123456789",
    "created": 1763650000,
    "model": "gpt-4.1",
    "system_fingerprint": "fp_1",
}


def whole() -> bytes:
    """Returns the whole answer: "Hello."."""
    message: dict[str, Any] = {"role": "assistant", "content": "Hello.", "refusal": None, "annotations": []}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    body = json.dumps({**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE}).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def stream() -> bytes:
    """Yields `EVENTS` words, each as an event and an HTTP chunk."""
    deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in WORDS), {}]
    events: list[Any] = [chunk(delta) for delta in deltas]
    events[-1]["choices"][0]["finish_reason"] = "stop"
    events.append({**chunk({}), "choices": [], "usage": USAGE})
    said = [f"data: {json.dumps(event, separators=(',', ':'))}\n\n".encode() for event in events]
    chunks = [b"%x\r\n%s\r\n" % (len(text), text) for text in (*said, b"data: [DONE]\n\n")]
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + b"".join(chunks) + b"0\r\n\r\n"


def chunk(delta: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
    return {**HEAD, "object": "chat.completion.chunk", "service_tier": "default", "choices": [choice]}


async def serve() -> None:
    """Serves until it is stopped."""
    answers = {False: whole(), True: stream()}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await head_of(reader):
            length = next(
                int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
            )
            body = await reader.readexactly(length)
            writer.write(answers[b'"stream":true' in body.replace(b" ", b"")])
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 24)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


async def head_of(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


@contextmanager
def serving(*command: str) -> Iterator[str]:
    """Yields the URL of this server, or of another program that prints its URL in the same way."""
    asked = command or (sys.executable, str(Path(__file__)))
    with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


if __name__ == "__main__":
    asyncio.run(serve())
