"""Runs the attacks on an adapter or a command, each in a process of its own, and judges what the client did."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, get_args
from urllib.request import urlopen

from ..adapters import Adapter, Endpoint, ProviderAddress
from ..adapters.endpoints import address_of, endpoint
from ..runner.command import Driver, NoReply, read
from ..scenarios.canary_keys import planted
from ..scenarios.case import Ask, Case, Mode
from ..scenarios.messages import Text, Tool
from ..scenarios.script import Answer, Call
from .attacks import ATTACKS, PLACE, TEXT, Attack, Duty

__all__ = ["COMMAND", "DUTIES", "LIMIT", "MEMORY", "TIMEOUT", "Trial", "kinds", "tried"]

#: Seconds that a client is given as its own timeout, and after which it hangs. A read timeout begins anew with each byte.
TIMEOUT, LIMIT = 3.0, 12.0
#: Seconds of a command: those of its answer, and some to start.
COMMAND = LIMIT + 4.0
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


_MODES: tuple[tuple[bool, tuple[Mode, ...]], ...] = (
    (False, ("sync", "async")),
    (True, ("stream", "async-stream")),
)


def kinds(adapter: Adapter | Driver, wire: str, attacks: Sequence[str] = ()) -> Iterator[tuple[Attack, Mode]]:
    """Yields the attacks for an adapter, each with a mode: `sync` or `stream`, or the same with `async`."""
    modes = adapter.capabilities(wire, adapter.wires[wire][0]).modes
    for attack in (ATTACKS[name] for name in attacks or ATTACKS):
        for streamed, choices in _MODES:
            mode: Mode | None = next((mode for mode in choices if mode in modes), None)
            if mode and attack.applies(wire, streamed=streamed):
                yield attack, mode


def tried(
    adapter: Adapter | Driver,
    wire: str,
    attack: Attack,
    mode: Mode,
    *,
    origin: str,
    nonce: str,
    timeout: float = TIMEOUT,
) -> Trial:
    """Runs an attack from a server in another process, at `origin`, and returns the judged trial. `timeout` is the client's own. A command
    has some seconds more, in which it starts.
    """
    provider = adapter.wires[wire][0]
    place = address_of(adapter, wire, provider)
    url = f"{origin}/c/{attack.name}/{nonce}{place.path}"
    to = replace(endpoint(place, wire, provider), base_url=url, timeout=timeout)
    with planted(place.key_vars):
        if isinstance(adapter, Driver):
            played = _in_a_process(lambda: _answered(adapter, place, to, mode), COMMAND + _ENDS, room=None)
            played["memory"] = max(0, played["memory"] - _idle(adapter))
        else:
            played = _in_a_process(lambda: _played(adapter, to, mode), LIMIT)
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

_ENDS = 4.0  # seconds in which a command that is stopped may end
_TOOL = Tool(
    "get_weather",
    "Returns the weather.",
    lambda **_: "sunny",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
_QUESTION = "What is the weather in Paris?"
_CASE = Case(
    script=(Answer((Call("get_weather", {"city": PLACE}),)),),
    steps=(Ask((Text(_QUESTION),)),),
    name="hostile",
    title="The provider is hostile.",
    tools=(_TOOL,),
)


def _answered(driver: Driver, place: ProviderAddress, to: Endpoint, mode: Mode) -> dict[str, Any]:
    """Returns what a command printed, what it ran, and how it ended."""
    done = driver.asked(place, to, _CASE, mode)
    found: dict[str, Any] = {"memory": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024}
    if isinstance(done, subprocess.TimeoutExpired):
        return found | {"ended": "hangs"}
    if not isinstance(done, subprocess.CompletedProcess):
        return found | {"ended": "crashed", "error": str(done)}
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    found["shown"] = to.api_key in out + err
    try:
        lines = read(out)
    except NoReply as error:
        return found | {"ended": "crashed", "error": str(error)}
    if done.returncode or not lines:
        return found | {"ended": "crashed", "error": err.strip()[-200:]}
    reply = lines[-1].reply
    found["runs"] = sum(len(line.ran or ()) for line in lines)
    if reply.error:
        return found | {"error": f"{type(reply.error).__name__}: {reply.error}"}
    return found | {"said": reply.text, "complete": reply.complete and reply.stop not in {"length", "error"}}


@cache
def _idle(driver: Driver) -> int:
    """Returns the bytes that a command needs without a request."""
    return int(_in_a_process(lambda: {"memory": driver.idle()}, COMMAND + _ENDS, room=None)["memory"])


def _played(adapter: Adapter, to: Endpoint, mode: str) -> dict[str, Any]:
    """Returns what the library returned, raised, printed and ran."""
    runs: list[Any] = []
    before = set(sys.modules)

    def get_weather(**arguments: Any) -> str:
        runs.append(arguments)
        return "sunny"

    tool = replace(_TOOL, run=get_weather)
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
        parts, stream = [Text(_QUESTION)], mode.endswith("stream")
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


def _in_a_process(work: Any, seconds: float, *, room: int | None = _ROOM) -> dict[str, Any]:
    """Returns the result of `work()` in a fork of this process, with its time, its memory, and how it ended."""
    reading, writing = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work, writing, room)
    os.close(writing)
    data, ended = _read(reading, began + seconds)
    os.close(reading)
    if ended == "hangs":
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    found: dict[str, Any] = {"ended": ended, "seconds": time.monotonic() - began}
    with suppress(ValueError):
        found |= json.loads(data)
    before = found.pop("before", used.ru_maxrss)
    found.setdefault("memory", max(0, used.ru_maxrss - before) * 1024)
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


def _work(work: Any, pipe: int, room: int | None) -> None:
    """Runs in the child, which it ends."""
    code = 70
    try:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        os.write(pipe, json.dumps({"before": before}).encode())
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        if room is not None:
            resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))
        os.write(pipe, b"\n" + json.dumps(work() | {"before": before}).encode())
        code = 0
    except MemoryError:
        code = _NO_MEMORY
    except BaseException:  # noqa: BLE001 - the child ends here, whatever happened
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)
