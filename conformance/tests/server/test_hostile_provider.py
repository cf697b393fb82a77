"""The hostile provider: each attack does what it says, in every wire format, and our client withstands it."""

import json
import os
import resource
import sys
import time
import zlib
from typing import ClassVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.adapters.ellmer_core import EllmerCore
from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.cli.runs.hostile import command
from ellmer_conformance.hostile import trials
from ellmer_conformance.hostile.attacks import ATTACKS
from ellmer_conformance.hostile.provider import HostileProvider
from ellmer_conformance.runner.command import Driver
from ellmer_conformance.scenarios.messages import Reply
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.http.routes import route_of

pytestmark = pytest.mark.invariants

CHAT = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture(scope="module")
def server():
    with StrictServer(handler=HostileProvider(7)) as server:
        yield server


def posted(url, key="sk-a-key-of-mine"):
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    return urlopen(Request(url, json.dumps(CHAT).encode(), headers), timeout=10)


def test_the_url_names_the_attack(server):
    with pytest.raises(HTTPError, match="401") as refused:
        posted(f"{server.origin}/c/quoted-key-401/one/v1/chat/completions")

    assert b"sk-a-key-of-mine" in refused.value.read()


def test_only_the_first_request_of_a_conversation_is_attacked(server):
    url = f"{server.origin}/c/quoted-key-500/two/v1/chat/completions"
    with pytest.raises(HTTPError, match="500"):
        posted(url)

    assert b"forty-two" in posted(url).read()


def test_the_journal_says_who_followed_a_redirect_with_the_key(server):
    with pytest.raises(HTTPError, match="307"):
        posted(f"{server.origin}/c/redirect/three/v1/chat/completions")
    with pytest.raises(HTTPError, match="404"):
        posted(f"{server.origin}/stolen/v1")
    with urlopen(f"{server.origin}/journal", timeout=10) as answer:
        [visit] = [each for each in json.load(answer) if each["nonce"] == "three"]

    assert (visit["attack"], visit["stolen"]) == ("redirect", True)


def test_the_same_seed_chooses_the_same_attacks():
    def chosen(seed):
        provider, route = HostileProvider(seed), route_of("/v1/chat/completions", "api.openai.com")
        return [provider._chosen(route, streamed=True)[0].name for _ in range(20)]

    assert chosen(1) == chosen(1) != chosen(2)


FAST = [name for name in ATTACKS if not name.startswith(("bomb", "endless", "slow", "silence", "half"))]
ADAPTER = EllmerCore()
ALL = bool(os.environ.get("INVARIANTS"))  # `nox -s invariants`: each wire format and each attack
WIRES = sorted({wire for wire, _ in PROVIDER_ADDRESSES}) if ALL else ["anthropic", "openai-chat"]


#: Seconds of our client's own timeout: an answer that only this time ends shows in half of one what it shows in three, and others are not to
#: meet it on a busy machine.
WAITS, PATIENCE = 0.5, 8.0
WAITING = {"slow-bytes", "silence", "half", "endless-events", "endless-line", "endless-comments"}


def timeout(attack):
    if attack.name in WAITING:
        return WAITS
    return trials.TIMEOUT if attack.name == "endless-body" else PATIENCE


@pytest.mark.parametrize("wire", WIRES)
def test_our_client_withstands_the_attacks(server, wire):
    played = [
        trials.tried(
            ADAPTER,
            wire,
            attack,
            mode,
            origin=server.origin,
            nonce=f"{wire}-{number}",
            timeout=timeout(attack),
        )
        for number, (attack, mode) in enumerate(trials.kinds(ADAPTER, wire, ATTACKS if ALL else FAST))
    ]

    assert [(trial.attack, trial.mode, trial.broken, trial.said) for trial in played if trial.broken] == []
    assert len(played) > 20


class Careless:
    """A client that keeps no duty."""

    name = "careless"
    wires: ClassVar = {"openai-chat": ["openai"]}

    def capabilities(self, _wire, _provider):
        return Capabilities(modes=("stream",))

    def session(self, endpoint, *, system=None, tools=(), history=()):
        del system, history
        self.endpoint, self.tools = endpoint, tools
        return self

    def send(self, _parts, *, stream=False):
        del stream
        try:
            with posted(f"{self.endpoint.base_url}/chat/completions", self.endpoint.api_key) as answer:
                text = answer.read().decode("utf-8", "replace")
        except HTTPError as error:
            raise RuntimeError(error.read().decode()) from None
        if "tool_calls" in text:
            self.tools[0].run(city="Par")
        return Reply("")


@pytest.mark.parametrize(
    ("attack", "broken"),
    [
        ("nothing", ["keeps"]),
        ("quoted-key-401", ["key"]),
        ("call-after-end", ["no-call", "keeps"]),
        ("cut-call", ["no-call", "reports"]),
    ],
)
def test_a_careless_client_is_found_out(server, attack, broken, monkeypatch):
    monkeypatch.setitem(CHAT, "stream", True)
    monkeypatch.setitem(
        CHAT, "tools", [{"type": "function", "function": {"name": "get_weather", "parameters": {}}}]
    )
    trial = trials.tried(
        Careless(), "openai-chat", ATTACKS[attack], "stream", origin=server.origin, nonce=f"careless-{attack}"
    )

    assert trial.broken == broken


@pytest.mark.parametrize(
    ("work", "ended"),
    [
        (lambda: {"said": "x"}, "ended"),
        (os.abort, "crashed"),
        (lambda: bytearray(2**40), "out of memory"),
        (lambda: time.sleep(60), "hangs"),
    ],
    ids=["ended", "crashed", "out of memory", "hangs"],
)
def test_how_a_client_ended_is_seen(work, ended):
    assert trials._in_a_process(work, 1.0)["ended"] == ended


def test_the_command_lists_and_plays_the_attacks(tmp_path):
    listed = CliRunner().invoke(command, ["--list"])
    one = ["--wire", "openai-chat", "--attack", "cut-call", "--json", str(tmp_path / "found.json")]
    played = CliRunner().invoke(command, one)

    assert "cut-call-limit" in listed.output
    assert (played.exit_code, played.output.splitlines()[-1]) == (0, "2 attacks, 0 not withstood")
    assert {trial["mode"] for trial in json.loads((tmp_path / "found.json").read_text())} == {
        "sync",
        "stream",
    }
    assert CliRunner().invoke(command, ["--attack", "nonsense"]).exit_code == 2


#: A driver: it asks once, prints its key if it is told to, and runs each call that it finds.
DRIVER = """
import json, os, sys, urllib.request
how, url, key = sys.argv[1], os.environ["CONFORMANCE_BASE_URL"], os.environ["CONFORMANCE_API_KEY"]
if not os.environ["CONFORMANCE_WIRE"]:
    print(json.dumps({"name": "careless"})); sys.exit()
if how == "crashes": sys.exit("no")
if how == "fills": kept = b"x" * int(sys.argv[2])
body = json.dumps({"model": os.environ["CONFORMANCE_MODEL"], "messages": [{"role": "user", "content": "Hi"}]}).encode()
request = urllib.request.Request(f"{url}/chat/completions", body, {"content-type": "application/json", "authorization": f"Bearer {key}"})
seconds = float(os.environ["CONFORMANCE_TIMEOUT"])
try:
    answer = urllib.request.urlopen(request, timeout=seconds).read().decode(errors="replace")
except Exception as error:
    told = key if how == "tells" else ""
    print(json.dumps({"error": f"{error} {told}", "complete": False})); sys.exit()
print(json.dumps({"text": answer, "ran": [{"name": "get_weather", "arguments": {}}] if "get_weather" in answer else []}))
"""


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(trials, "MEMORY", 16 * 1024**2)


@pytest.mark.parametrize(
    ("how", "attack", "broken"),
    [
        ("asks", "nothing", []),
        ("asks", "cut-call", ["no-call", "reports"]),
        ("tells", "quoted-key-401", ["key"]),
        ("crashes", "nothing", ["survives", "keeps"]),
        ("fills", "nothing", ["memory"]),
    ],
)
@pytest.mark.usefixtures("little_memory")
def test_a_command_is_attacked_as_an_adapter_is(server, tmp_path, how, attack, broken):
    (tmp_path / "driver.py").write_text(DRIVER)
    # Linux counts the memory of the process that starts a command as its own
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + 50_000_000
    driver = Driver(f"{sys.executable} {tmp_path / 'driver.py'} {how} {most}", timeout=trials.LIMIT)
    [(chosen, mode), *_] = trials.kinds(driver, "openai-chat", [attack])

    found = trials.tried(driver, "openai-chat", chosen, mode, origin=server.origin, nonce=f"{how}-{attack}")

    assert (mode, found.broken) == ("sync", broken), found.said


@pytest.mark.parametrize(
    "words", [["--command", "true"], ["--command", "true", "--wire", "gemini", "--adapter", "ellmer-core"]]
)
def test_a_command_needs_a_format_and_excludes_an_adapter(words):
    assert CliRunner().invoke(command, words).exit_code == 2


def test_a_command_that_fails_without_an_attack_is_said_to():
    words = ["--command", "false", "--wire", "openai-chat", "--attack", "nothing"]

    assert "The client fails without an attack, too" in CliRunner().invoke(command, words).output


@pytest.mark.parametrize("mode", ["sync", "async-stream"])
def test_what_a_library_raises_is_its_error(mode):
    class Adapter:
        def session(self, _, tools):
            raise ValueError(f"no {len(tools)} tools")

    told = trials._sent(Adapter(), None, mode, [])
    assert told["error"] == "ValueError: no 0 tools"
    assert "Traceback" in told["told"]


def test_a_nested_body_holds_the_valid_answer(server):
    with posted(f"{server.origin}/c/nested-gzip/four/v1/chat/completions") as answer:
        body = answer.read()
    for _ in range(3):
        body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body)  # spaces follow
    assert json.loads(body)["object"] == "chat.completion"
