"""A program as an adapter: `conformance run --command`. It is started once for each case and mode, and talks JSON lines.

The sections are the program's declared capabilities, the conversation with it, and its replies.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn

from ..adapters import Capabilities, Difference, Endpoint, ProviderAddress
from ..adapters.endpoints import PROVIDER_ADDRESSES
from ..contract.observed.exchange import Json
from ..contract.observed.run import Run, ToolRun, Trouble, Varied, call_key
from ..contract.rule import objection
from ..scenarios.canary_keys import CANARY, about_planted_keys, environment, hidden
from ..scenarios.case import Ask, Case, Mode
from ..scenarios.cases import all_cases
from ..scenarios.messages import PDF, Audio, Image, Part, Reply, Text, Tool, ToolCall, ToolResult, Upload
from ..scenarios.script import Call, Delivery, Step, answers_of
from .against_server import NO_CASSETTE, Conversation, under
from .command_process import WroteTooMuch, finished, late
from .watches import found_in

if TYPE_CHECKING:
    from ..server import StrictServer

# --- Declared capabilities -------------------------------------------------------------------------------


#: Optional capabilities of a command, beyond one conversation in text. Each enables cases.
FEATURES = {
    "conversations": "several conversations at once (`who` in its steps)",
    "cancel": "requests that are cancelled (`cancelled` in its steps)",
    "reload": "conversations that are saved and loaded (`reloaded` in its steps)",
}
#: Capabilities that open cases where they are declared: audio, data of a schema, what a caller may set for one turn.
_ASKED_FOR = {
    "audio_in_user",
    "structured",
    *["tool_choice", "stop_sequences", "json_mode", "model_override", "prompt_caching", "usage_limits"],
    *["temperature", "output_limit", "forbidden_calls", "single_calls", "thinking"],
    *["named_calls", "thinking_off"],
}
#: Capabilities that no command has, because a command cannot be asked for them.
_NOT_SAID = {"approval", "async_tools", "changed_prompt", "citations", "compaction", "uploads"}
_MODES: tuple[Mode, ...] = ("sync", "stream")
_NAMES = frozenset(field.name for field in fields(Capabilities)) - {"modes"}

#: The conversation that asks for it.
NOTHING = Case(script=(), steps=(), name="capabilities", title="Say what you can do.")


class DeclaredWrongly(ValueError):
    """A declaration cannot be read. The message gives the reason."""


@dataclass(frozen=True)
class Declared:
    """The declared features of a command."""

    capabilities: Capabilities = field(default_factory=lambda: Capabilities(modes=_MODES))
    features: frozenset[str] = frozenset()
    name: str = ""
    differences: tuple[Difference, ...] = ()

    def why_not(self, case: Case) -> str:
        """Returns the reason why a case cannot be run by it, or `""`."""
        if beyond := sorted(case.needs & _NOT_SAID):
            return f"no message to a command says {', '.join(beyond)}"
        if missing := self.capabilities.refused(sorted(case.needs & _ASKED_FOR)):
            return f"the command does not declare {', '.join(missing)} in its `capabilities`"
        wanted = {
            "conversations": len(case.speakers) > 1,
            "cancel": any(ask.cancelled for ask in case.steps),
        }
        unable = [name for name, needed in wanted.items() if needed and name not in self.features]
        return f"the command does not declare {FEATURES[unable[0]]}" if unable else ""


def declared(stdout: str) -> Declared:
    """Returns the declaration in the output, if there is one. Raises DeclaredWrongly."""
    for line in stdout.split("\n"):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and {"capabilities", "differences", "features", "name"} & set(found):
            return _declared(found)
    return Declared()


def _declared(found: Mapping[str, Any]) -> Declared:
    told, features = ({} if found.get(k) is None else found[k] for k in ("capabilities", "features"))
    features = features or []
    if not isinstance(told, dict) or not isinstance(features, list):
        raise DeclaredWrongly("`capabilities` must be an object, and `features` a list")
    unknown = sorted({*told} - _NAMES) + sorted(set(map(str, features)) - set(FEATURES))
    if unknown:
        names = f"capabilities: {', '.join(sorted(_NAMES))}; features: {', '.join(FEATURES)}"
        raise DeclaredWrongly(f"there is no {', '.join(unknown)}; the known names are {names}")
    wrong = sorted(name for name, value in told.items() if value not in {"native", "pointer", "refused"})
    if wrong:
        raise DeclaredWrongly(f"{', '.join(wrong)} must be native, pointer or refused")
    able, name = Capabilities(modes=_MODES, **told), str(found.get("name") or "")
    return Declared(able, frozenset(features), name, _differences(found.get("differences") or ()))


def _differences(found: Sequence[Mapping[str, str]]) -> tuple[Difference, ...]:
    """Returns what the command does on purpose. Raises DeclaredWrongly."""
    try:
        return tuple(Difference(**each) for each in found)
    except TypeError as error:
        raise DeclaredWrongly(
            "each entry of `differences` needs a rule, shown, reason, since and wire; one of them is missing or wrong"
        ) from error


# --- The conversation ------------------------------------------------------------------------------------


VERSION = 1


def as_json(case: Case) -> Json:
    """Returns the user's side of a case, and the tools' results for the calls that the model will make."""
    return {
        "version": VERSION,
        "case": case.name,
        "title": case.title,
        "system": case.system,
        "tools": [_tool(tool, case) for tool in case.tools],
        "history": [{"role": turn.role, "parts": [_part(p) for p in turn.parts]} for turn in case.history],
        "steps": [_step(ask) for ask in case.steps],
    }


def _step(ask: Ask) -> Json:
    """Returns a step. Rare fields are written only if they are set, and only for a command that declares their
    support.
    """
    more = {
        "who": ask.who,
        "schema": dict(ask.schema) if ask.schema else None,
        "cancelled": ask.cancelled,
        "reloaded": ask.reloaded,
        "options": dict(ask.options),
    }
    return {"parts": [_part(part) for part in ask.parts], **{k: v for k, v in more.items() if v}}


def _tool(tool: Tool, case: Case) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
        "results": [{"arguments": args, **_result(tool, args)} for args in _arguments(tool, case)],
    }


def _arguments(tool: Tool, case: Case) -> Iterator[Json]:
    """Yields the distinct arguments with which the model calls a tool."""
    seen: set[str] = set()
    for call in (call for step in case.script for call in _calls(step) if call.name == tool.name):
        key = json.dumps(dict(call.arguments), sort_keys=True)
        if call.text is None and key not in seen:
            seen.add(key)
            yield dict(call.arguments)


def _calls(step: Step) -> list[Call]:
    step = step.step if isinstance(step, Delivery) else step
    return [part for answer in answers_of(step) for part in answer.parts if isinstance(part, Call)]


def _result(tool: Tool, arguments: Mapping[str, Any]) -> Json:
    """Returns the result of a tool call: `{"value": …}`, or `{"error": message}`."""
    try:
        return {"value": _value(tool.run(**arguments))}
    except Exception as error:  # noqa: BLE001 - a tool that fails is a case
        return {"error": f"{type(error).__name__}: {error}"}


def _value(value: Any) -> Any:
    """Returns a tool's value, with media as `{"$media": type, "data": base64}`, or `{"$media": type, "url": …}`."""
    if isinstance(value, list):
        return [_value(item) for item in value]
    if isinstance(value, Image) and value.url:
        return {"$media": value.type, "url": value.url}
    if isinstance(value, Image):
        return {"$media": value.type, "data": _base64(value.data)}
    if isinstance(value, PDF):
        return {"$media": "application/pdf", "data": _base64(value.data), "filename": value.filename}
    return value


def _part(part: Part) -> Json:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(data, media_type, url):
            inline = {"media_type": media_type, "data": _base64(data)}
            return {"type": "image", **({"url": url} if url else inline)}
        case PDF(data, filename):
            return {"type": "pdf", "filename": filename, "data": _base64(data)}
        case Audio(data, media_type):
            return {"type": "audio", "media_type": media_type, "data": _base64(data)}
        case ToolCall(id, name, arguments):
            return {"type": "tool_call", "id": id, "name": name, "arguments": dict(arguments)}
        case Upload():
            raise NotImplementedError("a command cannot upload files")
        case ToolResult(id, value):
            return {"type": "tool_result", "id": id, "value": _value(value)}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


# --- Replies ---------------------------------------------------------------------------------------------


class NoReply(ValueError):
    """A line is not a reply. The message gives the line and the reason."""


class DriverError(Exception):
    """An error that the driver reports. `status` is its HTTP status.

    Different error classes of the driver become different classes here. `nameless`: an error of the language or its
    standard library, which does not help the caller.
    """

    nameless = False

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


#: Errors of other languages that mean that the program, and not the API, has a problem.
_NAMELESS = frozenset(
    [
        "TypeError",
        "SyntaxError",
        "ReferenceError",
        "RangeError",
        "ValueError",
        "KeyError",
        "IndexError",
        "AttributeError",
        "JSONDecodeError",
        "UnicodeDecodeError",
        "NoMethodError",
        "NameError",
        "ParserError",
        "NullPointerException",
        "ClassCastException",
        "IndexOutOfBoundsException",
        "IllegalArgumentException",
        "panic",
    ]
)


def error_of(message: str, status: int | None, named: str | None) -> DriverError:
    """Returns the error of a reply, with the class that it names."""
    return _class(named)(message, status) if named else DriverError(message, status)


@cache
def _class(named: str) -> type[DriverError]:
    last = named.replace("::", ".").rpartition(".")[2]
    return type(last, (DriverError,), {"nameless": last in _NAMELESS})


@dataclass(frozen=True)
class Line:
    """One line: the reply and further fields. `ran` is `None` if the line does not list the tools that were run."""

    reply: Reply
    ran: Sequence[Mapping[str, Any]] | None = None
    transcript: str = ""
    names_its_error: bool = False


def read(stdout: str) -> list[Line]:
    """Returns all replies in the output. Raises NoReply. Blank lines are ignored."""
    lines = [(number, line) for number, line in enumerate(stdout.split("\n"), 1) if line.strip()]
    return [_line(number, line) for number, line in lines]


def _line(number: int, text: str) -> Line:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _wrong(number, text, str(error)) from error
    if not isinstance(found, dict):
        raise _wrong(number, text, "it is not an object")
    for key, kinds in _KINDS.items():
        if not isinstance(found.get(key), (*kinds, type(None))):
            raise _wrong(number, text, f"{key} is a {type(found[key]).__name__}")
    return Line(
        _reply(found), found.get("ran"), found.get("transcript") or "", bool(found.get("error_class"))
    )


_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "stop": (str,),
    "complete": (bool,),
    "usage": (dict,),
    "error": (str,),
    "error_class": (str,),
    "status": (int,),
    "pieces": (list,),
    "ran": (list,),
    "transcript": (str,),
}


def _reply(found: Mapping[str, Any]) -> Reply:
    error = found.get("error")
    return Reply(
        text=found.get("text") or "",
        stop=found.get("stop"),
        complete=found.get("complete", error is None) is not False,
        usage=found.get("usage") or {},
        error=error_of(error, found.get("status"), found.get("error_class")) if error is not None else None,
        pieces=found.get("pieces") or (),
        value=found.get("value"),
    )


def _wrong(number: int, text: str, why: str) -> NoReply:
    return NoReply(
        f"line {number} of what the command printed is not a reply ({why}): {text[:120]!r}. "
        "Standard output is for replies as JSON lines; print everything else to standard error."
    )


# --- The process -----------------------------------------------------------------------------------------


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

    starts_processes = True

    def __init__(self, command: str, *, timeout: float = _TIMEOUT) -> None:
        self.command, self.timeout = shlex.split(command), timeout
        self.name = Path(self.command[-1]).stem
        self.wires: Mapping[str, Sequence[str]] = {
            wire: [v for w, v in PROVIDER_ADDRESSES if w == wire] for wire, _ in PROVIDER_ADDRESSES
        }

    @cached_property
    def declared(self) -> Declared:
        """The declaration that the program prints. Raises DeclaredWrongly."""
        found = declared(self._declaration().decode("utf-8", "replace"))
        self.name = found.name or self.name
        return found

    def _declaration(self) -> bytes:
        place = ProviderAddress("http://127.0.0.1:9/v1", "none", ())  # no server listens there
        with self._started(_variables(place, NOTHING, "sync"), NOTHING) as done:
            if isinstance(done, Exception) or done.returncode:
                return b""
            return done.stdout

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns its declared capabilities: blocking and streamed, because another process is neither sync nor
        async.
        """
        return self.declared.capabilities

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What it declares to do on purpose."""
        return self.declared.differences

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
        raise NotImplementedError(f"{self.name} is a command: it is run against {endpoint.base_url}")

    def play(self, wire: str, provider: str, case: Case, mode: Mode, *, server: StrictServer) -> Run:
        """Returns one run of a case with one wire format and mode. Errors of the process are part of the run."""
        run = self._play(wire, provider, case, mode, server)
        if run.trouble or run.refused:
            return run
        others = [variation for variation in run.variations if not variation.timed]
        plays = [self._play(wire, provider, under(case, variation), mode, server) for variation in others]
        return replace(
            run, varied=[Varied(variation, play) for variation, play in zip(others, plays, strict=True)]
        )

    def _play(self, wire: str, provider: str, case: Case, mode: Mode, server: StrictServer) -> Run:
        conversation = Conversation(server, self, wire, provider, case)
        lines, trouble, leaks = self._perform(conversation, mode)
        if trouble and trouble.rule != "RUN-002" and _was_refused(conversation):
            trouble = None  # the request is what is wrong, and the end of the program follows from it
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
            trouble=trouble or conversation.without_result(refused, [line.reply.error for line in lines]),
        )
        return replace(run, tool_runs=_tool_runs(run, lines))

    def _perform(
        self, conversation: Conversation, mode: Mode
    ) -> tuple[list[Line], Trouble | None, list[str]]:
        """Returns the output, the error, and the places where a key was printed."""
        with self._started(_environment(conversation, mode), conversation.case) as done:
            if isinstance(done, subprocess.TimeoutExpired):
                return [], Trouble(late(done), ours=False, rule="RUN-002"), []
            if isinstance(done, WroteTooMuch):
                return [], Trouble(f"the command was ended: {done}", ours=False, rule="RUN-002"), []
            if not isinstance(done, subprocess.CompletedProcess):
                return [], Trouble(f"the command could not be run: {done}", ours=False), []
        out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
        leaks = found_in(standard_output=out, standard_error=err)
        if done.returncode:
            message = f"the command exited with {done.returncode}:\n{err.strip()[-2000:]}"
            own = conversation.place.key_vars
            return [], Trouble(f"{message}{about_planted_keys(err, own)}", ours=False), leaks
        try:
            return read(out), None, leaks
        except NoReply as error:
            return [], Trouble(str(error), ours=False), leaks

    def asked(
        self, place: ProviderAddress, to: Endpoint, case: Case, mode: Mode
    ) -> subprocess.CompletedProcess[bytes] | Exception:
        """Returns the finished command, or the error that prevented it, after a case at an address of any server."""
        told = _variables(place, case, mode) | _told(to) | {"CONFORMANCE_TIMEOUT": f"{to.timeout:g}"}
        with self._started(told, case) as done:
            return done

    def idle(self) -> int:
        """Returns the bytes that it needs to declare what it can do. It must be this process's only command."""
        self._declaration()
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024

    @contextmanager
    def _started(
        self, environment: Mapping[str, str], case: Case
    ) -> Iterator[subprocess.CompletedProcess[bytes] | Exception]:
        """Yields the finished command with a case in a file, and the error that prevented it, if there is one."""
        with TemporaryDirectory() as folder:
            file = Path(folder, "conversation.json")
            file.write_text(json.dumps(as_json(case)), "utf-8")
            try:
                told = {**environment, "CONFORMANCE_CONVERSATION": str(file)}
                found = finished(self.command, told, self.timeout)
            except (OSError, subprocess.TimeoutExpired) as error:
                yield error
            else:
                yield found


def _environment(conversation: Conversation, mode: Mode) -> dict[str, str]:
    return _variables(conversation.place, conversation.case, mode) | _told(conversation.endpoint)


def _told(endpoint: Endpoint) -> dict[str, str]:
    return {
        "CONFORMANCE_BASE_URL": endpoint.base_url,
        "CONFORMANCE_API_KEY": endpoint.api_key,
        "CONFORMANCE_MODEL": endpoint.model,
        "CONFORMANCE_WIRE": endpoint.wire,
        "CONFORMANCE_PROVIDER": endpoint.provider,
    }


def _variables(place: ProviderAddress, case: Case, mode: Mode) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in hidden(place.key_vars)}
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


def _was_refused(conversation: Conversation) -> bool:
    return any(objection(each.verdicts) is not None for each in conversation.exchanges)


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
        named = [(entry.get("name"), entry.get("arguments")) for line in lines for entry in line.ran or ()]
    else:
        answered = [calls for index, calls in run.calls() if index + 1 < len(run.exchanges)]
        named = [(call.name, dict(call.arguments)) for calls in answered for call in calls]
    return [_tool_run(run.case, str(name), arguments) for name, arguments in named if _known(run.case, name)]


def _known(case: Case, name: object) -> bool:
    return any(tool.name == name for tool in case.tools)


def _tool_run(case: Case, name: str, arguments: object) -> ToolRun:
    """Returns the run of a tool with its value, as the case's own tool returns it. A command that has no result for the arguments fails in its own words, which are unknown."""
    tool = next(tool for tool in case.tools if tool.name == name)
    values = dict(arguments) if isinstance(arguments, Mapping) else {}
    told = [call for step in case.script for answer in answers_of(step) for call in answer.calls]
    meant = {call_key(call.name, call.arguments): call.arguments for call in told}
    key = call_key(name, values)
    try:
        return ToolRun(name, values, tool.run(**meant.get(key, values)))
    except Exception as error:  # noqa: BLE001 - a tool that fails is a case
        known = key in {call_key(name, given) for given in _arguments(tool, case)}
        return ToolRun(name, values, error=error if known else LookupError())
