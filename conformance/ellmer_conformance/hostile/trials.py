"""Runs the attacks on an adapter, each in a process of its own, and judges what the client did."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, get_args
from urllib.request import urlopen

from ..adapters import Adapter, Endpoint
from ..adapters.endpoints import address_of, endpoint
from ..scenarios.canary_keys import planted
from ..scenarios.messages import Text, Tool
from .attacks import ATTACKS, TEXT, Attack, Duty

__all__ = ["DUTIES", "LIMIT", "MEMORY", "TIMEOUT", "Trial", "kinds", "tried"]

#: Seconds that a client is given as its own timeout, and after which it hangs. A read timeout begins anew with each byte.
TIMEOUT, LIMIT = 3.0, 12.0
#: Bytes that a client may need for an answer.
MEMORY = 256 * 1024 * 1024
_ROOM = 3 * 1024**3  # bytes of address space beyond what the adapter needs
_ALWAYS: tuple[Duty, ...] = ("ends", "survives", "memory", "key")
DUTIES: tuple[Duty, ...] = get_args(Duty)


@dataclass
class Trial:
    """What a client did under one attack.

    Args:
        attack: The name of the attack.
        wire: The wire format.
        mode: `"sync"` or `"stream"`, or the same with `async`.
        broken: What the client should have kept, and did not.
        seconds: The time until the client ended.
        memory: The bytes that the client needed at most, beyond those before the request.
        said: The text of its answer, or its error.
    """

    attack: str
    wire: str
    mode: str
    broken: list[Duty] = field(default_factory=list)
    seconds: float = 0.0
    memory: int = 0
    said: str = ""


def kinds(adapter: Adapter, wire: str, attacks: Sequence[str] = ()) -> Iterator[tuple[Attack, str]]:
    """Yields the attacks for an adapter, each with a mode: `sync` or `stream`, or the same with `async`."""
    modes = adapter.capabilities(wire, adapter.wires[wire][0]).modes
    for attack in (ATTACKS[name] for name in attacks or ATTACKS):
        for streamed, choices in ((False, ("sync", "async")), (True, ("stream", "async-stream"))):
            mode = next((mode for mode in choices if mode in modes), None)
            if mode and attack.applies(wire, streamed=streamed):
                yield attack, mode


def tried(
    adapter: Adapter,
    wire: str,
    attack: Attack,
    mode: str,
    *,
    origin: str,
    nonce: str,
    timeout: float = TIMEOUT,
) -> Trial:
    """Runs an attack from a server in another process, at `origin`, and returns the judged trial. `timeout` is the client's own."""
    provider = adapter.wires[wire][0]
    place = address_of(adapter, wire, provider)
    url = f"{origin}/c/{attack.name}/{nonce}{place.path}"
    to = replace(endpoint(place, wire, provider), base_url=url, timeout=timeout)
    with planted(place.key_vars):
        played = _in_a_process(lambda: _played(adapter, to, mode))
    _import(played.get("modules", []))
    trial = Trial(attack.name, wire, mode, seconds=round(played["seconds"], 2), memory=played["memory"])
    trial.said = str(played.get("said") or played.get("error") or played["ended"])[:200]
    duties, visits = (*_ALWAYS, *attack.duties), _visits(origin, nonce)
    trial.broken = [duty for duty in DUTIES if duty in duties and not _kept(duty, played, visits)]
    return trial


def _import(names: Sequence[str]) -> None:
    """Imports what a client has imported, so that the next one, which is a fork of this process, need not."""
    for name in names:
        with suppress(Exception):  # a module may want to be imported by its package only
            import_module(name)


def _visits(origin: str, nonce: str) -> list[dict[str, Any]]:
    with urlopen(f"{origin}/journal", timeout=10) as answer:  # noqa: S310 - our own server
        return [visit for visit in json.load(answer) if visit["nonce"] == nonce]


def _kept(duty: Duty, played: dict[str, Any], visits: list[dict[str, Any]]) -> bool:
    ended = played["ended"]
    held: dict[Duty, bool] = {
        "ends": ended != "hangs",
        "survives": ended != "crashed",
        "memory": played["memory"] <= MEMORY and ended != "out of memory",
        "key": not played.get("shown") and not any(visit["stolen"] for visit in visits),
        "no-call": not played.get("runs"),
        "keeps": TEXT in (played.get("said") or ""),
        "reports": bool(played.get("error")) or not played.get("complete", True),
    }
    return held[duty]


# --- The process of a client -----------------------------------------------------------------------------


def _played(adapter: Adapter, to: Endpoint, mode: str) -> dict[str, Any]:
    """Returns what the library returned, raised, printed and ran."""
    runs: list[Any] = []
    before = set(sys.modules)

    def get_weather(**arguments: Any) -> str:
        runs.append(arguments)
        return "sunny"

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = Tool("get_weather", "Returns the weather.", get_weather, schema)
    refused = adapter.capabilities(to.wire, to.provider).tools == "refused"
    printed = StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        found = _sent(adapter, to, mode, [] if refused else [tool])
    new = [name for name in sys.modules if name not in before]
    shown = to.api_key in printed.getvalue() + found.pop("told", "")
    return found | {"runs": len(runs), "shown": shown, "modules": new}


def _sent(adapter: Adapter, to: Endpoint, mode: str, tools: list[Tool]) -> dict[str, Any]:
    try:
        session = adapter.session(to, tools=tools)
        parts, stream = [Text("What is the weather in Paris?")], mode.endswith("stream")
        if mode.startswith("async"):
            reply = asyncio.run(_awaited(session.asend(parts, stream=stream)))
        else:
            reply = session.send(parts, stream=stream)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - any error of the library
        return _error(error)
    if reply.error:
        return _error(reply.error)
    return {"said": reply.text, "complete": reply.complete and reply.stop not in {"length", "error"}}


async def _awaited(reply: Any) -> Any:
    return await reply


def _error(error: BaseException) -> dict[str, Any]:
    """Returns an error as it is shown and logged: its text, its parts, and its traceback."""
    told = "".join(traceback.format_exception(error, limit=3))
    told += "".join(f"{each!r} {vars(each) if hasattr(each, '__dict__') else ''}" for each in _chain(error))
    return {"error": f"{type(error).__name__}: {error}", "told": told}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _in_a_process(work: Any) -> dict[str, Any]:
    """Returns the result of `work()` in a fork of this process, with its time, its memory, and how it ended."""
    reading, writing = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work, writing)
    os.close(writing)
    data, ended = _read(reading, began + LIMIT)
    os.close(reading)
    if ended == "hangs":
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    found: dict[str, Any] = {"ended": ended, "seconds": time.monotonic() - began, "memory": 0}
    with suppress(ValueError):
        found |= json.loads(data)
    before = found.pop("before", used.ru_maxrss)
    found["memory"] = max(0, used.ru_maxrss - before) * 1024
    if ended != "hangs" and status:
        found["ended"] = "out of memory" if os.waitstatus_to_exitcode(status) == _NO_MEMORY else "crashed"
    return found


_NO_MEMORY = 77


def _read(pipe: int, until: float) -> tuple[bytes, str]:
    """Returns what the child wrote, and whether it hangs."""
    data = b""
    while (left := until - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            part = os.read(pipe, 65_536)
            if not part:
                return data.rpartition(b"\n")[2] or data, "ended"
            data += part
    return data, "hangs"


def _work(work: Any, pipe: int) -> None:
    """Runs in the child, which it ends."""
    code = 70
    try:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        os.write(pipe, json.dumps({"before": before}).encode())
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + _ROOM, size + _ROOM))
        os.write(pipe, b"\n" + json.dumps(work() | {"before": before}).encode())
        code = 0
    except MemoryError:
        code = _NO_MEMORY
    except BaseException:  # noqa: BLE001 - the child ends here, whatever happened
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)
