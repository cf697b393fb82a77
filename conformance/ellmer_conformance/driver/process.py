"""Starts a driver for a case, and makes a `Run` of what it did."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from ..adapters import Capabilities, Endpoint
from ..canary import environment
from ..case import Case, Mode
from ..direct import NO_CASSETTE, Conversation
from ..endpoints import WHERE, place_of
from ..run import Run, ToolRun, Trouble, call_key
from ..script import answers_of
from ..server import StrictServer
from .conversation import as_json
from .replies import Line, NoReply, read

__all__ = ["Driver"]

_TIMEOUT = 60.0  # seconds for one case
_ANOTHER_PROCESS = "the command is another process: its sockets and values are not seen"
_RAN = "the command does not say which tools it ran (`ran` in its replies)"
_REPLIES = "the command prints no replies"
_TRANSCRIPT = "the command prints no transcript"


class Driver:
    """A command as an adapter. Its session is a process, so it is played, not opened."""

    def __init__(self, command: str, *, timeout: float = _TIMEOUT) -> None:
        self.command, self.timeout = shlex.split(command), timeout
        self.name = Path(self.command[-1]).stem
        self.wires: Mapping[str, Sequence[str]] = {
            wire: [v for w, v in WHERE if w == wire] for wire, _ in WHERE
        }

    def capabilities(self, wire: str, vendor: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Everything; blocking and streamed, since another process is neither sync nor async."""
        return Capabilities(modes=("sync", "stream"))

    def plays(self, case: Case) -> bool:
        """Whether a file can tell the case: one conversation, in text, once."""
        values = any(ask.schema or ask.cancelled for ask in case.steps)
        return len(case.speakers) == 1 and not case.variations and not values

    def session(self, endpoint: Endpoint, **_: object) -> NoReturn:
        """There is none."""
        raise NotImplementedError(f"{self.name} is a command: it is played against {endpoint.base_url}")

    def play(self, wire: str, vendor: str, case: Case, mode: Mode, *, server: StrictServer) -> Run:
        """One case, one wire format, one mode. Whatever went wrong with the process is the run's trouble."""
        conversation = Conversation(server, place_of(self, wire, vendor), wire, vendor, case)
        lines, trouble = self._perform(conversation, mode)
        run = Run(
            case=case,
            wire=wire,
            vendor=vendor,
            mode=mode,
            exchanges=conversation.exchanges,
            replies=[line.reply for line in lines],
            transcript=next((line.transcript for line in reversed(lines) if line.transcript), ""),
            way="command",
            unseen=_unseen(lines),
            trouble=trouble or conversation.unheard((), [line.reply.error for line in lines]),
        )
        return replace(run, tool_runs=_tool_runs(run, lines))

    def _perform(self, conversation: Conversation, mode: Mode) -> tuple[list[Line], Trouble | None]:
        with TemporaryDirectory() as folder:
            file = Path(folder, "conversation.json")
            file.write_text(json.dumps(as_json(conversation.case)), "utf-8")
            try:
                done = subprocess.run(  # noqa: S603 - running this command is what was asked for
                    self.command,
                    env=_environment(conversation, mode, file),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=self.timeout,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return [], Trouble(f"the command could not be run: {error}", ours=False)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[-2000:]
            return [], Trouble(f"the command exited with {done.returncode}:\n{said}", ours=False)
        try:
            return read(done.stdout.decode("utf-8", "replace")), None
        except NoReply as error:
            return [], Trouble(str(error), ours=False)


def _environment(conversation: Conversation, mode: Mode, file: Path) -> dict[str, str]:
    endpoint = conversation.endpoint
    return {
        **os.environ,
        **environment(conversation.place.key_vars),
        "CONFORMANCE_BASE_URL": endpoint.base_url,
        "CONFORMANCE_API_KEY": endpoint.api_key,
        "CONFORMANCE_CASE": conversation.case.name,
        "CONFORMANCE_MODE": mode,
        "CONFORMANCE_MODEL": endpoint.model,
        "CONFORMANCE_MAX_RETRIES": str(conversation.case.max_retries),
        "CONFORMANCE_WIRE": endpoint.wire,
        "CONFORMANCE_VENDOR": endpoint.vendor,
        "CONFORMANCE_CONVERSATION": str(file),
    }


def _unseen(lines: Sequence[Line]) -> dict[str, str]:
    """The rules that this way cannot judge, and why."""
    unseen = NO_CASSETTE | dict.fromkeys(("AUT-005", "HIS-001"), _ANOTHER_PROCESS)
    if not any(line.ran is not None for line in lines):
        unseen |= dict.fromkeys(("PAR-005", "STP-004", "STR-008"), _RAN)
    if not any(line.transcript for line in lines):
        unseen |= dict.fromkeys(("TRM-014", "TXT-001", "TXT-002", "TXT-004"), _TRANSCRIPT)
    if not lines:
        told = ("STP-001", "STR-007", "STR-009", "STR-010", "TXT-005", "USG-001")
        unseen |= dict.fromkeys(told, _REPLIES)
    return unseen


def _tool_runs(run: Run, lines: Sequence[Line]) -> list[ToolRun]:
    """The tools that the driver says it ran; else those it should have: the calls that a later request answers."""
    if any(line.ran is not None for line in lines):
        named = [(one.get("name"), one.get("arguments")) for line in lines for one in line.ran or ()]
    else:
        answered = [calls for index, calls in run.calls() if index + 1 < len(run.exchanges)]
        named = [(call.name, dict(call.arguments)) for calls in answered for call in calls]
    return [_tool_run(run.case, str(name), arguments) for name, arguments in named if _known(run.case, name)]


def _known(case: Case, name: object) -> bool:
    return any(tool.name == name for tool in case.tools)


def _tool_run(case: Case, name: str, arguments: object) -> ToolRun:
    """The run of a tool with its value, as the case's own tool gives it."""
    tool = next(tool for tool in case.tools if tool.name == name)
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    told = [call for step in case.script for answer in answers_of(step) for call in answer.calls]
    meant = {call_key(call.name, call.arguments): call.arguments for call in told}
    try:
        return ToolRun(name, given, tool.run(**meant.get(call_key(name, given), given)))
    except Exception as error:  # noqa: BLE001 - a tool that fails is a case
        return ToolRun(name, given, error=error)
