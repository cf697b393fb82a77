"""Options are fixtures, command line options and configuration keys; and recordings become stale."""

import json
import re
import shlex

import httpx
import pytest

pytest_plugins = ["pytester"]

ONE = """
    import pytest

    @pytest.mark.cassette
    def test_a(ask):
        ask()
"""


def edited(path, **ours):
    """Writes the origin and the date of a recording into a cassette."""
    cassette = json.loads(path.read_text())
    cassette["metadata"]["ellmer_harness"].update(ours)
    path.write_text(json.dumps(cassette))


@pytest.fixture
def old(suite, pytester):
    """Makes a suite whose only cassette is from 2020."""
    suite(ONE, "--cassette-mode=record").assert_outcomes(passed=1)
    edited(pytester.path / "cassettes/test_it/test_a.json", recorded_at="2020-01-01T00:00:00Z")
    return lambda *arguments, code=None: suite(code, *arguments)


def test_every_policy_is_a_fixture(suite, pytester, server, cassettes):
    suite(
        f"""
        import datetime, httpx, pytest
        from pathlib import Path
        from ellmer_harness import Match
        from ellmer_harness.interception.open_cassettes import Clock
        from ellmer_harness.secrets.redaction import Scrub

        @pytest.fixture
        def cassette_options(): return {{"recorded_from": "live"}}

        @pytest.fixture
        def cassette_mode(): return "record"

        @pytest.fixture
        def cassette_folder(tmp_path_factory): return Path("elsewhere")

        @pytest.fixture
        def cassette_name(request): return request.node.name.upper()

        @pytest.fixture
        def cassette_blobs(): return Path("media")

        @pytest.fixture
        def cassette_match(): return Match(ignore=("/n",))

        @pytest.fixture
        def cassette_scrub(): return Scrub.of({{"WHO": "somebody-secret"}}, keep=["x-kept"])

        @pytest.fixture
        def cassette_routes(): return {{"https://api.example.com": "{server.url}"}}

        @pytest.fixture
        def cassette_judge():
            return lambda sent: ["too few"] if len(sent) < 2 else []

        @pytest.fixture
        def cassette_clock():
            return Clock(today=lambda: datetime.datetime(2031, 2, 3, tzinfo=datetime.UTC))

        @pytest.fixture
        def cassette_policies(): return [lambda recording: f"seen {{recording.path.name}} {{recording.today:%Y}}"]

        @pytest.mark.filterwarnings("ignore:`judge`")
        def test_a(cassette, tmp_path_factory):
            n = len(list(Path("elsewhere").glob("*"))) if Path("elsewhere").exists() else 0
            body = {{"n": n, "who": "somebody-secret"}}
            httpx.post("https://api.example.com/x", json=body, headers={{"x-kept": "yes"}})
        """,
    ).assert_outcomes(passed=1)
    text = (pytester.path / "elsewhere/TEST_A.json").read_text()
    assert cassettes() == []
    assert "somebody-secret" not in text
    for part in ('"<WHO>"', '"x-kept"', '"recorded_at": "2031-02-03T00:00:00Z"'):
        assert part in text
    result = suite(None)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 replayed", "STALE *(seen TEST_A.json 2031)"])
    assert len(server.requests) == 1


def test_a_judge_of_the_suite_refuses(suite, cassettes):
    code = (
        ONE
        + """
    @pytest.fixture
    def cassette_judge(): return lambda sent: ["no model"]
    """
    )
    result = suite(code, "--cassette-mode=record")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["Refused: `judge` found faults *", "  no model"])
    assert cassettes() == []


def test_the_command_line_counts_more_than_the_fixture_and_the_marker_more_than_both(suite, cassettes):
    suite(
        """
        import pytest

        @pytest.fixture
        def cassette_mode(): return "live"

        @pytest.mark.cassette
        def test_a(ask, cassette):
            ask()
            assert cassette.mode == "record"

        @pytest.mark.cassette(mode="live")
        def test_b(ask, cassette):
            ask()
            assert cassette.mode == "live"
        """,
        "--cassette-mode=record",
    ).assert_outcomes(passed=2)
    assert cassettes() == ["test_it/test_a.json"]


def test_a_policy_may_have_parameters(suite):
    code = """
        import pytest

        @pytest.fixture(params=["crlf", "every-byte"])
        def cassette_options(request, cassette_options):
            return {**cassette_options, "framing": request.param}

        @pytest.mark.cassette("one")
        def test_a(ask, cassette): assert ask()  # named: pytest makes one test of each parameter only then
    """
    suite(code, "--cassette-mode=record").assert_outcomes(passed=2)
    suite(None).assert_outcomes(passed=2)


@pytest.mark.parametrize("how", ["--cassette-stale=error", "cassette_stale = error", "CASSETTE_STALE"])
def test_stale_is_a_warning_here_and_an_error_at_night(old, pytester, monkeypatch, server, how):
    ini = pytester.path / "tox.ini"
    ini.write_text(ini.read_text() + "\ncassette_max_age = 90\n")
    result = old()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["STALE *test_a.json (recorded * days ago)"])

    if how == "CASSETTE_STALE":
        monkeypatch.setenv(how, "error")
    elif " " in how:
        ini.write_text(ini.read_text() + how + "\n")
    before = (pytester.path / "cassettes/test_it/test_a.json").read_bytes()
    result = old(*([how] if how.startswith("--") else []))
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "Stale: cassette *test_a.json is stale: recorded * days ago.",
            "  pytest 'test_it.py::test_a' --cassette-mode=rewrite",
        ]
    )
    assert (pytester.path / "cassettes/test_it/test_a.json").read_bytes() == before
    assert len(server.requests) == 1
    old("--cassette-stale=ignore").stdout.no_fnmatch_line("STALE*")


def test_a_live_recording_is_as_old_as_it_says(suite, pytester):
    code = (
        ONE
        + """
    @pytest.fixture
    def cassette_max_age(): return 30
    """
    )
    suite(code, "--cassette-mode=record")
    suite(None).stdout.no_fnmatch_line("STALE*")  # no date: repeatable
    edited(pytester.path / "cassettes/test_it/test_a.json", recorded_at="2020-01-01T00:00:00Z")
    suite(None).stdout.fnmatch_lines(["STALE*"])


def test_the_hook_knows_what_the_harness_does_not(old, pytester):
    conftest = pytester.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + "\ndef pytest_cassette_stale(recording):\n"
        + "    [request] = recording.requests\n"
        + "    return f'{request.json} to {request.url} is gone since {recording.recorded_at:%Y}'\n"
    )
    result = old("--cassette-stale=error")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*is stale: {'n': 0} to https://api.example.com/x is gone since 2020."])


@pytest.mark.slow
def test_retired_models_through_the_hook(suite, pytester):
    code = """
        import httpx, pytest

        @pytest.fixture
        def cassette_routes(): return {"https://api.anthropic.com": "SERVER"}

        @pytest.mark.cassette(recorded_from="live")
        def test_a():
            httpx.post("https://api.anthropic.com/v1/messages", json={"model": "claude-2.1"})
    """
    conftest = (pytester.path / "conftest.py").read_text()
    url = conftest.partition('"https://api.example.com": "')[2].partition('"')[0]
    (pytester.path / "conftest.py").write_text("")
    suite(code.replace("SERVER", url), "--cassette-mode=record").assert_outcomes(passed=1)
    suite(None).stdout.no_fnmatch_line("STALE*")
    hook = ["-p", "ellmer_conformance.contract.changes.retired_models"]
    result = suite(None, *hook, process=True)  # pytest wants to be the first to load it
    result.stdout.fnmatch_lines(["STALE *(Anthropic shut claude-2.1 down on 2025-07-21 *"])
    suite(None, *hook, "--cassette-stale=error", process=True).assert_outcomes(passed=1, errors=1)


def test_an_unknown_level_is_refused(suite, monkeypatch):
    assert suite(ONE, "--cassette-stale=panic").ret == pytest.ExitCode.USAGE_ERROR
    monkeypatch.setenv("CASSETTE_STALE", "panic")
    assert suite(None).ret == pytest.ExitCode.USAGE_ERROR


@pytest.fixture
def far(tmp_path, monkeypatch):
    """Makes a store in a folder, and a machine's copies of it."""
    monkeypatch.setenv("CASSETTE_CACHE", str(tmp_path / "copies"))
    (tmp_path / "far").mkdir()
    return tmp_path / "far"


@pytest.mark.parametrize("how", ["option", "ini", "environment", "fixture"])
def test_a_store_is_named_in_four_ways(suite, pytester, far, how, monkeypatch):
    code, arguments = ONE, []
    if how == "option":
        arguments = [f"--cassette-store={far}"]
    elif how == "ini":
        ini = pytester.path / "tox.ini"
        ini.write_text(ini.read_text() + f"\ncassette_store = {far}\n")
    elif how == "environment":
        monkeypatch.setenv("CASSETTE_STORE", str(far))
    else:
        code += f"""
    @pytest.fixture(scope="session")
    def cassette_store(): return {str(far)!r}
    """
    suite(code, "--cassette-mode=record", *arguments).assert_outcomes(passed=1)
    assert not (pytester.path / "cassettes").exists()
    assert (far / "cassettes/test_it/test_a.json").exists()
    suite(None, *arguments).assert_outcomes(passed=1)


def test_the_command_names_the_store_that_was_named(suite, far):
    result = suite(ONE, f"--cassette-store={far}")
    result.stdout.fnmatch_lines(
        [
            f"*Miss: there is no cassette {far}/cassettes/test_it/test_a.json.",
            f"*  pytest 'test_it.py::test_a' --cassette-mode=record --cassette-store='{far}'",
        ]
    )


def commands(result):
    return re.findall(r"^(?:E +)?  (pytest .*)$", result.stdout.str(), re.MULTILINE)


@pytest.mark.slow
def test_the_command_that_every_error_prints_works(suite, pytester, server):
    code = """
        import httpx, pytest

        @pytest.mark.cassette
        @pytest.mark.parametrize("what", ["it's", 'a "b" [c]', "x::y", "$HOME `ls`", "ü", "-k", b"\\x00\\xff", ""])
        def test_p(ask, what, cassette):
            if CASE == "missed": ask(9)
            if CASE != "idle" or cassette.records: ask(1)
            if CASE != "unused" or cassette.records: ask(2)
    """
    suite("CASE = ''" + code.replace("\n        ", "\n"), "--cassette-mode=record").assert_outcomes(passed=8)
    for case in ("unused", "idle", "missed"):
        result = suite(f"CASE = {case!r}" + code.replace("\n        ", "\n"))
        found = dict.fromkeys(commands(result))
        assert len(found) == 8
        if case == "missed":
            for line in found:
                suite(None, *shlex.split(line)[1:]).stdout.fnmatch_lines(["1 recorded"])
            suite(None).assert_outcomes(passed=8)


def test_the_command_is_for_the_folder_where_pytest_was_started(suite, pytester, monkeypatch):
    (pytester.path / "sub").mkdir()
    (pytester.path / "sub" / "test_in.py").write_text("def test_a(cassette, ask): ask()\n")
    monkeypatch.chdir(pytester.path / "sub")
    result = suite(None, "test_in.py")
    [line] = set(commands(result))
    assert shlex.split(line)[1] == "test_in.py::test_a"


def test_without_a_test_the_command_is_an_environment_variable(tmp_path, monkeypatch):
    from ellmer_harness import Miss, use_cassette

    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    told = "CASSETTE_MODE=record <the command of this run>"
    with pytest.raises(Miss, match=told), use_cassette(tmp_path / "none.json"):
        httpx.get("https://api.example.com")
