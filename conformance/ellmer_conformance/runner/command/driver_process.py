"""Starts a driver for a case, and makes a `Run` of its output and its requests."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from ...adapters import Capabilities, Endpoint, Place
from ...adapters.endpoints import WHERE
from ...contract.observed_run import Run, ToolRun, Trouble, Varied, call_key
from ...scenarios.canary_keys import CANARY, environment, rivals, said_who
from ...scenarios.case import Case, Mode
from ...scenarios.cases import all_cases
from ...scenarios.script import answers_of
from ...server import StrictServer
from ..against_server import NO_CASSETTE, Conversation, under
from ..stdout_and_log_watch import found_in
from .conversation import as_json
from .declared_capabilities import NOTHING, Declared, declared
from .driver_replies import Line, NoReply, read

__all__ = ["Driver"]

_TIMEOUT = 60.0  # seconds for one case
_ANOTHER_PROCESS = "the command is another process: its sockets and values are not seen"
_CLASS = "the command does not name the class of its errors (`error_class` in its replies)"
_PIECES = "the command prints no pieces of streams (`pieces` in its replies)"
_USAGE = "the command prints no token counts (`usage` in its replies)"
#: Rules about what the caller got.
_NEED_REPLIES = {
    *(
        "ERR-005",
        "ERR-008",
        "ERR-009",
        "ERR-012",
        "HIS-010",
        "STO-002",
        "STO-003",
        "STO-004",
        "STP-001",
        "STR-007",
    ),
    *("STR-009", "STR-010", "STR-011", "THK-008", "TXT-005", "USG-001"),
}
_RAN = "the command does not say which tools it ran (`ran` in its replies)"
_REPLIES = "the command prints no replies"
_TRANSCRIPT = "the command prints no transcript"


class Driver:
    """A command as an adapter. Its session is a process, so it is not opened like other sessions."""

    def __init__(self, command: str, *, timeout: float = _TIMEOUT) -> None:
        self.command, self.timeout = shlex.split(command), timeout
        self.name = Path(self.command[-1]).stem
        self.wires: Mapping[str, Sequence[str]] = {
            wire: [v for w, v in WHERE if w == wire] for wire, _ in WHERE
        }

    @cached_property
    def declared(self) -> Declared:
        """Its declaration. Raises DeclaredWrongly."""
        place = Place("http://127.0.0.1:9/v1", "none", ())  # no server listens there
        with self._started(_variables(place, NOTHING, "sync"), NOTHING) as done:
            said = (
                done.stdout if isinstance(done, subprocess.CompletedProcess) and not done.returncode else b""
            )
        found = declared(said.decode("utf-8", "replace"))
        self.name = found.name or self.name
        return found

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns its declared capabilities: blocking and streamed, because another process is neither sync nor
        async.
        """
        return self.declared.capabilities

    def why_not(self, case: Case) -> str:
        """Returns the reason why the protocol cannot express the case for it, or `""`."""
        return self.declared.why_not(case)

    def modes_of(self, case: Case) -> Sequence[Mode]:
        """Returns the modes of a case. A case with a cancelled request has only the streamed one."""
        return ("async-stream",) if any(ask.cancelled for ask in case.steps) else ("sync", "stream")

    def left_out(self) -> dict[str, str]:
        """Returns the cases that the protocol cannot express for it, with reasons."""
        return {name: why for name, case in all_cases().items() if (why := self.declared.why_not(case))}

    def session(self, endpoint: Endpoint, **_: object) -> NoReturn:
        """Raises, because a command has no session."""
        raise NotImplementedError(f"{self.name} is a command: it is played against {endpoint.base_url}")

    def play(self, wire: str, provider: str, case: Case, mode: Mode, *, server: StrictServer) -> Run:
        """Returns one run of a case with one wire format and mode. Errors of the process are part of the run."""
        run = self._play(wire, provider, case, mode, server)
        if run.trouble or run.refused:
            return run
        others = [one for one in run.variations if not one.timed]
        plays = [self._play(wire, provider, under(case, one), mode, server) for one in others]
        return replace(run, varied=[Varied(one, play) for one, play in zip(others, plays, strict=True)])

    def _play(self, wire: str, provider: str, case: Case, mode: Mode, server: StrictServer) -> Run:
        conversation = Conversation(server, self, wire, provider, case)
        lines, trouble, leaks = self._perform(conversation, mode)
        refused = self.capabilities(wire, provider).refused(case.needs)
        run = Run(
            case=conversation.case,
            wire=wire,
            provider=provider,
            mode=mode,
            exchanges=conversation.exchanges,
            replies=[line.reply for line in lines],
            transcript=next((line.transcript for line in reversed(lines) if line.transcript), ""),
            refused=refused,
            apart=self.declared.capabilities.interleaved_parts == "refused",
            model=conversation.endpoint.model,
            leaks=leaks,
            left=_left(conversation),
            reloaded="reload" in self.declared.features and any(ask.reloaded for ask in case.steps),
            way="command",
            unseen=_unseen(lines, case),
            trouble=trouble or conversation.unheard(refused, [line.reply.error for line in lines]),
        )
        return replace(run, tool_runs=_tool_runs(run, lines))

    def _perform(
        self, conversation: Conversation, mode: Mode
    ) -> tuple[list[Line], Trouble | None, list[str]]:
        """Returns the output, the error, and the places where a key was printed."""
        with self._started(_environment(conversation, mode), conversation.case) as done:
            if not isinstance(done, subprocess.CompletedProcess):
                return [], Trouble(f"the command could not be run: {done}", ours=False), []
        out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
        leaks = found_in(standard_output=out, standard_error=err)
        if done.returncode:
            said = f"the command exited with {done.returncode}:\n{err.strip()[-2000:]}"
            own = conversation.place.key_vars
            return [], Trouble(f"{said}{said_who(err, own)}", ours=False), leaks
        try:
            return read(out), None, leaks
        except NoReply as error:
            return [], Trouble(str(error), ours=False), leaks

    @contextmanager
    def _started(
        self, environment: Mapping[str, str], case: Case
    ) -> Iterator[subprocess.CompletedProcess[bytes] | Exception]:
        """Yields the finished command with a case in a file, and the error that prevented it, if there is one."""
        with TemporaryDirectory() as folder:
            file = Path(folder, "conversation.json")
            file.write_text(json.dumps(as_json(case)), "utf-8")
            try:
                yield subprocess.run(  # noqa: S603 - running this command is what was asked for
                    self.command,
                    env={**environment, "CONFORMANCE_CONVERSATION": str(file)},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=self.timeout,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                yield error


def _environment(conversation: Conversation, mode: Mode) -> dict[str, str]:
    endpoint = conversation.endpoint
    return _variables(conversation.place, conversation.case, mode) | {
        "CONFORMANCE_BASE_URL": endpoint.base_url,
        "CONFORMANCE_API_KEY": endpoint.api_key,
        "CONFORMANCE_MODEL": endpoint.model,
        "CONFORMANCE_WIRE": endpoint.wire,
        "CONFORMANCE_PROVIDER": endpoint.provider,
    }


def _variables(place: Place, case: Case, mode: Mode) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in rivals(place.key_vars)}
    return {
        **inherited,
        **environment(place.key_vars),
        "CONFORMANCE_BASE_URL": place.base_url,
        "CONFORMANCE_API_KEY": CANARY,
        "CONFORMANCE_MODEL": place.model,
        "CONFORMANCE_WIRE": "",
        "CONFORMANCE_PROVIDER": "",
        "CONFORMANCE_CASE": case.name,
        "CONFORMANCE_MODE": mode,
        "CONFORMANCE_MAX_RETRIES": str(case.max_retries),
    }


def _left(conversation: Conversation) -> list[bool] | None:
    """Tells for each cancelled request whether the server saw the client close the connection."""
    given_up = [number for number, ask in enumerate(conversation.case.steps) if ask.cancelled]
    entries = conversation.entries
    return [entries[n].left is not None for n in given_up if n < len(entries)] or None


def _unseen(lines: Sequence[Line], case: Case) -> dict[str, str]:
    """Returns the rules that a command's run cannot judge, with reasons."""
    unseen = NO_CASSETTE | dict.fromkeys(("ASY-004", "AUT-005", "ERR-001", "HIS-001"), _ANOTHER_PROCESS)
    if not any(line.ran is not None for line in lines):
        unseen |= dict.fromkeys(("PAR-005", "STP-004", "STR-008", "UNI-003"), _RAN)
    if not any(line.transcript for line in lines):
        unseen |= dict.fromkeys(("TRM-014", "TXT-001", "TXT-002", "TXT-004"), _TRANSCRIPT)
    errors = [line for line in lines if line.reply.error is not None]
    if errors and not all(line.names_its_error for line in errors):
        unseen |= dict.fromkeys(("ERR-006", "ERR-007", "ERR-011", "STP-002", "STP-003"), _CLASS)
    if not any(line.reply.pieces for line in lines):
        unseen |= dict.fromkeys(("STR-017", "STR-021"), _PIECES)
    if not any(line.reply.usage for line in lines):
        unseen |= dict.fromkeys(("USG-001", "USG-004", "USG-005"), _USAGE)
    if not lines:
        unseen |= dict.fromkeys(sorted(_NEED_REPLIES), _REPLIES)
    elif len(lines) < len(case.steps):
        unseen |= {"HIS-010": _REPLIES}
    return unseen


def _tool_runs(run: Run, lines: Sequence[Line]) -> list[ToolRun]:
    """Returns the tools that the driver reports as run. Without a report, they are the calls that a later request
    answers.
    """
    if any(line.ran is not None for line in lines):
        named = [(one.get("name"), one.get("arguments")) for line in lines for one in line.ran or ()]
    else:
        answered = [calls for index, calls in run.calls() if index + 1 < len(run.exchanges)]
        named = [(call.name, dict(call.arguments)) for calls in answered for call in calls]
    return [_tool_run(run.case, str(name), arguments) for name, arguments in named if _known(run.case, name)]


def _known(case: Case, name: object) -> bool:
    return any(tool.name == name for tool in case.tools)


def _tool_run(case: Case, name: str, arguments: object) -> ToolRun:
    """Returns the run of a tool with its value, as the case's own tool returns it."""
    tool = next(tool for tool in case.tools if tool.name == name)
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    told = [call for step in case.script for answer in answers_of(step) for call in answer.calls]
    meant = {call_key(call.name, call.arguments): call.arguments for call in told}
    try:
        return ToolRun(name, given, tool.run(**meant.get(call_key(name, given), given)))
    except Exception as error:  # noqa: BLE001 - a tool that fails is a case
        return ToolRun(name, given, error=error)
