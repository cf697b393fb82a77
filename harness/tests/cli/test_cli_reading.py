"""`ellmer-harness ls`, `show` and `diff`: the readable view of a recording."""

import gzip
import json
import sys
from hashlib import sha256

import httpx
import pytest

from ellmer_harness import use_cassette
from ellmer_harness.cli import _parser, main
from ellmer_harness.display import size

API = "https://api.example.com"
IMAGE = b"\x89PNG" + bytes(5000)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


def said(delta, **more):
    return {"choices": [{"delta": {"content": delta}, **more}], "n": len(delta)}


@pytest.fixture
def tree(server, record, tmp_path):
    server.chunked(
        [
            *server.events(said("Hel"), said("lo,\n"), said("world"), said("", finish="stop")),
            b"data: [DONE]\n\n",
        ]
    )
    server.whole(IMAGE, "image/png", status="201 Made")
    server.raw()
    with use_cassette(tmp_path / "suite" / "c.json", **record):
        httpx.post(
            f"{API}/chat", json={"messages": [{"role": "user", "content": "Say\nhello"}], "stream": True}
        )
        httpx.get(f"{API}/image?key={TOKEN}", headers={"authorization": f"Bearer {TOKEN}"})
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(f"{API}/cut")
    return tmp_path / "suite"


def test_show(tree, capsys):
    assert main(["show", str(tree / "c.json")]) == 0
    assert (
        capsys.readouterr().out
        == f"""\
{tree}/c.json: 3 interactions, recorded from test-server

#1  POST https://api.example.com/chat
    accept: */*
    content-type: application/json

    messages:
      - role: "user"
        content: |
          Say
          hello
    stream: true
  → 200 OK, text/event-stream, 5 events, 251 B
    content-type: text/event-stream
    transfer-encoding: chunked

    data × 3:
      choices:
        - delta:
            content: |
              Hello,
              world
      n: "3 … 5"
    data: {{"choices": [{{"delta": {{"content": ""}}, "finish": "stop"}}], "n": 0}}
    data: [DONE]

#2  GET https://api.example.com/image?key=REDACTED
    accept: */*
  → 201 Made, image/png, 5.0 kB
    content-type: image/png

    <image/png, 5.0 kB, {sha256(IMAGE).hexdigest()[:8]}>

#3  GET https://api.example.com/cut
    accept: */*
  → RemoteProtocolError: Server disconnected without sending a response.
"""
    )


def test_show_one_and_raw(tree, capsysbinary):
    assert main(["show", str(tree / "c.json"), "-n", "2", "--raw"]) == 0
    out = capsysbinary.readouterr().out
    assert IMAGE in out
    assert b"/chat" not in out
    assert main(["show", str(tree / "c.json"), "--number", "4"]) == 2
    assert b"has no interaction 4, only 3" in capsysbinary.readouterr().err


def theirs(*entries):
    return {"version": 1, "interactions": entries}


def entry(url, body="{}", content="{}", **response):
    return {
        "request": {
            "method": "POST",
            "uri": url,
            "headers": {"Authorization": [f"Bearer {TOKEN}"]},
            "body": body,
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {},
            "body": {"string": content},
            **response,
        },
    }


def test_show_of_a_foreign_recording_keeps_keys_to_itself(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery")
    (tmp_path / "a.json").write_text(
        json.dumps(theirs(entry(f"{API}/?token=k9Xz2Lm7Vb4Ry8NpQ1Tw", '{"k": "correct-horse-battery"}')))
    )
    assert main(["show", str(tmp_path / "a.json")]) == 0
    out = capsys.readouterr().out
    assert "a.json: 1 interaction, a recording of vcrpy\n" in out
    assert "authorization: Bearer REDACTED" in out
    assert "?token=REDACTED" in out
    assert '{"k": "<MY_API_KEY>"}' in out


def test_show_does_not_let_a_recording_command_the_terminal(tmp_path, capsys):
    (tmp_path / "a.json").write_text(json.dumps(theirs(entry(API, "\x1b[2J", "x" * 3000))))
    assert main(["show", str(tmp_path / "a.json")]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[2J" in out
    assert "x… (3000 characters)" in out


def test_ls(tree, capsys):
    (tree / "b.yaml.gz").write_bytes(gzip.compress(b"requests: []\nresponses: []\n"))
    (tree / "cut.yaml").write_text("interactions:\n- request: {")
    (tree / "package.json").write_text('{"name": "x", "url": "https://x/"}')
    assert main(["ls", str(tree)]) == 1
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert [line.split()[3] for line in lines[:2]] == ["langchain", "test-server"]
    assert lines[1].endswith(f"-           {tree}/c.json  api.example.com")
    assert lines[2].startswith("2 recordings, 3 interactions, ")
    assert lines[2].endswith(" kB, 1 unreadable")
    assert captured.err.startswith(f"{tree}/cut.yaml: it is damaged or truncated")
    assert main(["ls", str(tree / "c.json")]) == 0
    assert main(["ls", str(tree / "package.json")]) == 0  # named, it may be a record of one request


def diff(tmp_path, capsys, old, new, *options):
    for name, entries in (("old", old), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(theirs(*entries)))
    code = main(["diff", str(tmp_path / "old.json"), str(tmp_path / "new.json"), *options])
    return code, capsys.readouterr().out


def test_diff(tmp_path, capsys):
    old = [entry(f"{API}/a", '{"q": "what is it"}'), entry(f"{API}/b"), entry(f"{API}/c")]
    new = [
        entry(f"{API}/a", '{"q": "what was it"}'),
        entry(f"{API}/c", status={"code": 429, "message": ""}),
        entry(f"{API}/d"),
    ]
    assert diff(tmp_path, capsys, old, old) == (0, "no difference in 3 interactions\n")
    code, out = diff(tmp_path, capsys, old, new)
    assert code == 14
    assert out == (
        "~ #1  POST https://api.example.com/a\n"
        "    ~ /request/body/q: what [-is-]{+was+} it\n"
        "- #2  POST https://api.example.com/b\n"
        "~ #3 → #2  POST https://api.example.com/c\n"
        "    ~ /response/status: [-200-]{+429+}\n"
        "+ #3  POST https://api.example.com/d\n"
        "differences by kind: wording 1, shape 3\n"
    )


DIFF_CODES = {"ids": 10, "wording": 11, "order": 12, "tools": 13, "shape": 14}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "hello there"}]}
CALL = {"type": "tool_use", "id": "toolu_01A2b3C4d5", "name": "look", "input": {"city": "Paris"}}
ANSWER = {"id": "msg_01A2b3C4d5", "created": 1, "content": [CALL, {"type": "text", "text": "Hello."}]}


def changed(value, *path, to):
    copy = json.loads(json.dumps(value))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return copy


@pytest.mark.parametrize(
    ("asked", "answered", "kind"),
    [
        (ASKED, changed(ANSWER, "id", to="msg_99Z2b3C4d5"), "ids"),
        (ASKED, changed(ANSWER, "created", to=2), "ids"),
        (ASKED, changed(ANSWER, "content", 0, "id", to="toolu_99Z2b3C4d5"), "ids"),
        (ASKED, changed(ANSWER, "content", 1, "text", to="Hi."), "wording"),
        (changed(ASKED, "messages", 0, "content", to="hello"), ANSWER, "wording"),
        (ASKED, changed(ANSWER, "content", 0, "input", "city", to="Rome"), "tools"),
        (ASKED, changed(ANSWER, "content", to=[CALL, ANSWER["content"][1], CALL]), "tools"),
        (changed(ASKED, "max_tokens", to=9), ANSWER, "shape"),
        (changed(ASKED, "model", to="n"), ANSWER, "shape"),
    ],
)
def test_diff_tells_the_kind_and_a_kind_can_be_allowed(tmp_path, capsys, asked, answered, kind):
    def made(request, answer):
        return [entry(API, json.dumps(request), content=json.dumps(answer))]

    code, out = diff(tmp_path, capsys, made(ASKED, ANSWER), made(asked, answered))
    assert (code, out.splitlines()[-1]) == (DIFF_CODES[kind], f"differences by kind: {kind} 1")
    allowed = [word for each in DIFF_CODES if each != kind for word in ("--allow", each)]
    assert diff(tmp_path, capsys, made(ASKED, ANSWER), made(asked, answered), *allowed)[0] == DIFF_CODES[kind]
    assert diff(tmp_path, capsys, made(ASKED, ANSWER), made(asked, answered), "--allow", kind)[0] == 0


def test_diff_exits_by_the_gravest_kind_that_is_not_allowed(tmp_path, capsys):
    new = changed(changed(ANSWER, "created", to=2), "content", 1, "text", to="Hi.")
    pair = [[entry(API, json.dumps(ASKED), content=json.dumps(each))] for each in (ANSWER, new)]
    assert diff(tmp_path, capsys, *pair)[0] == DIFF_CODES["wording"]
    assert diff(tmp_path, capsys, *pair, "--allow", "wording")[0] == DIFF_CODES["ids"]
    assert diff(tmp_path, capsys, *pair, "--allow", "wording", "--allow", "ids")[0] == 0


def test_diff_tells_another_order(tmp_path, capsys):
    one, other = entry(f"{API}/a"), entry(f"{API}/b")
    code, out = diff(tmp_path, capsys, [one, other], [other, one])
    assert (code, out.splitlines()[-1]) == (12, "differences by kind: order 1")
    assert diff(tmp_path, capsys, [one, other], [other, one], "--allow", "order")[0] == 0


def test_diff_of_two_folders_compares_the_files_of_the_same_name(tmp_path, capsys):
    old, new = tmp_path / "old", tmp_path / "new"
    sides = {
        old: {"a/same": [entry(API)], "changed": [entry(API, "x y")], "gone": [entry(API)]},
        new: {"a/same": [entry(API)], "changed": [entry(API, "x z")]},
    }
    for folder, files in sides.items():
        for name, entries in files.items():
            path = folder / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"version": 1, "interactions": entries}), "utf-8")
    arguments = ["diff", str(old), str(new), "--allow", "wording"]
    assert main(arguments) == 14
    assert capsys.readouterr().out == (
        "changed.json\n"
        "~ #1  POST https://api.example.com\n"
        "    ~ /request/body: x [-y-]{+z+}\n"
        "gone.json\n"
        "- #1  POST https://api.example.com\n"
        "differences by kind: wording 1 (allowed), shape 1\n"
    )
    (new / "gone.json").write_text((old / "gone.json").read_text("utf-8"), "utf-8")
    assert main(arguments) == 0
    (new / "gone.json").write_text('{"version": 1, "interactions": [{"request": ', "utf-8")
    assert main(arguments) == 2


def test_diff_does_not_count_the_pieces_of_a_stream(tmp_path, capsys):
    def stream(*pieces):
        sse = "".join(f"data: {json.dumps({'text': piece})}\n\n" for piece in pieces)
        return [
            entry(API, content=sse, headers={"content-type": ["text/event-stream"], "date": [f"{pieces}"]})
        ]

    assert diff(tmp_path, capsys, stream("a", "bc"), stream("ab", "c"))[0] == 0
    assert diff(tmp_path, capsys, stream("a", "bc"), stream("a bd"))[1].endswith(
        "/data/text: [-abc-]{+a bd+}\ndifferences by kind: wording 1\n"
    )
    code, out = diff(tmp_path, capsys, stream("a", "bc"), stream("ab", "c"), "--headers")
    assert (code, "/response/headers/date" in out) == (10, True)


def test_diff_across_formats(tree, tmp_path, capsys):
    assert main(["export", str(tree / "c.json"), "--out", str(tmp_path / "c.yaml")]) == 0
    assert main(["diff", str(tree / "c.json"), str(tmp_path / "c.yaml")]) == 0


@pytest.mark.parametrize("command", ["ls", "show", "diff", "scan", "import", "export", "migrate", "prune"])
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert f"usage: ellmer-harness {command}" in out
    assert "Exit code 0" in out


@pytest.mark.parametrize("command", [["show"], ["diff", "x"], ["import", "x"], ["wind"]])
def test_a_call_that_makes_no_sense(command):
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2


@pytest.mark.parametrize("command", ["show", "export"])
def test_what_is_no_recording(tmp_path, capsys, command):
    (tmp_path / "x.json").write_text("{}")
    for path, problem in (("x.json", "not a recording"), ("none.json", "no such file"), (".", "folder")):
        assert main([command, str(tmp_path / path)]) == 2
        assert problem in capsys.readouterr().err.lower()


def test_progress_is_for_terminals(tree, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("ellmer_harness.cli._terminal._EVERY", 0)
    assert main(["ls", str(tree)]) == 0
    assert "reading 1 of 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (1_000_000, "1.0 MB")],
)
def test_a_size_has_the_unit_that_fits(count, words):
    assert size(count) == words


def test_the_help_names_each_default():
    (commands,) = [each for each in _parser()._actions if isinstance(each.choices, dict)]
    unsaid = [
        f"{name} {option.option_strings[0]}"
        for name, command in commands.choices.items()
        for option in command._actions
        if option.default not in (None, False, [], "==SUPPRESS==") and "(default: " not in option.help
    ]
    assert unsaid == []
