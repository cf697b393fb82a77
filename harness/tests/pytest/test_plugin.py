"""The pytest plugin in separate test suites."""

import json
from importlib.metadata import entry_points

import pytest

from ellmer_harness.pytest import plugin
from ellmer_harness.pytest.plugin import file_name

pytest_plugins = ["pytester"]


def test_record_then_replay(suite, server, cassettes):
    code = """
        import pytest

        @pytest.mark.cassette
        def test_marked(ask):
            assert ask()

        def test_by_fixture(cassette, ask):
            assert ask(1) and cassette.sent[0].json == {"n": 1}
    """
    suite(code, "--cassette-mode=record").assert_outcomes(passed=2)
    assert cassettes() == ["test_it/test_by_fixture.json", "test_it/test_marked.json"]
    server.listener.close()
    result = suite(None)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*cassettes*", "2 replayed"])


def test_a_missing_cassette_is_a_plain_sentence(suite):
    result = suite("import httpx\ndef test_a(cassette): httpx.get('https://x.example')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*Miss: there is no cassette */cassettes/test_it/test_a.json.",
            "*pytest 'test_it.py::test_a' --cassette-mode=record",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    shown = result.outlines[
        result.outlines.index(next(line for line in result.outlines if "_ test_a _" in line)) :
    ]
    message = shown[1 : next(at for at, line in enumerate(shown) if "= cassettes =" in line)]
    assert len(message) <= 15
    assert message[0].startswith("Miss: there is no cassette")
    assert message[-1].strip() == "test_it.py:2: def test_a(cassette): httpx.get('https://x.example')"


def test_a_test_that_is_expected_to_fail_is_recorded_and_not_green_without_its_cassette(suite, cassettes):
    code = """
        import pytest

        @pytest.mark.xfail(strict=True)
        def test_a(cassette, ask):
            assert ask()["no such key"]
        """
    result = suite(code)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Miss: there is no cassette */test_a.json.*", "*--cassette-mode=record"])

    suite(None, "--cassette-mode=record").assert_outcomes(xfailed=1)
    assert cassettes() == ["test_it/test_a.json"]
    suite(None).assert_outcomes(xfailed=1)


def test_a_broken_cassette_of_a_test_that_is_expected_to_fail_is_a_failure(suite, pytester):
    folder = pytester.path / "cassettes" / "test_it"
    folder.mkdir(parents=True)
    (folder / "test_a.json").write_text("{")
    code = """
        import pytest

        @pytest.mark.xfail
        def test_a(cassette, ask):
            ask()
        """
    result = suite(code)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*CassetteError: cassette */test_a.json cannot be used*"])


def test_names_survive_parameters_classes_and_odd_characters(suite, cassettes):
    suite(
        """
        import pytest

        @pytest.mark.cassette
        @pytest.mark.parametrize("what", ["a/b", "a:b", "a b", "gpt-5", "ü", "x" * 300, ""])
        def test_p(ask, what):
            ask(what)

        @pytest.mark.parametrize("n", [1])
        class TestClass:
            @pytest.mark.cassette
            def test_p(self, ask, n):
                ask(n)
        """,
        "--cassette-mode=record",
    ).assert_outcomes(passed=8)
    names = cassettes()
    assert len(names) == 8
    assert all(len(name) < 150 and name.isascii() for name in names)
    suite(None).assert_outcomes(passed=8)


def test_file_names():
    assert file_name("TestX.test_y") == "TestX.test_y"
    assert file_name("test_y[a]").startswith("test_y-a-")
    assert [file_name(name)[:4] for name in ("aux", "Con.x", "COM1")] == [
        "_aux",
        "_Con",
        "_COM",
    ]  # devices of Windows
    assert file_name("console") == "console"
    assert len({file_name(f"test[{odd}]") for odd in ("a/b", "a:b", "a-b", "a b")}) == 4


def test_the_marker_gives_path_and_options(suite, cassettes):
    code = """
        import pytest
        from ellmer_harness.faults import Status

        pytestmark = pytest.mark.cassette(allow_unused=True)

        @pytest.mark.cassette("shared/one")
        def test_a(cassette, ask):
            ask(), ask(1)

        @pytest.mark.cassette("shared/one", faults=[Status(503, body={})])
        def test_b(cassette, ask):
            ask()
            assert cassette.exchanges[0].status == (503 if cassette.replays else 200)
    """
    suite(code, "--cassette-mode=record").assert_outcomes(passed=2)
    assert cassettes() == ["test_it/shared/one.json"]
    suite(None).assert_outcomes(passed=2)


def test_folder_and_name_are_fixtures(suite, pytester):
    suite(
        """
        import pytest

        @pytest.fixture
        def cassette_folder(request): return request.path.parent / "cassettes"

        @pytest.fixture
        def cassette_name(request): return request.node.name.upper()

        def test_a(cassette, ask): ask()
        """,
        "--cassette-mode=record",
    ).assert_outcomes(passed=1)
    assert (pytester.path / "cassettes" / "TEST_A.json").exists()


def test_what_the_run_has_to_answer_for_fails_the_test(suite, server):
    code = """
        import pytest, httpx

        @pytest.mark.cassette
        @pytest.mark.parametrize("case", ["unused", "idle", "swallowed", "missed", "fine"])
        def test_p(ask, case, cassette):
            if cassette.records:
                ask(1), ask(2)
            if cassette.mode == "replay":
                if case == "unused": ask(1)
                if case == "fine": ask(1), ask(2)
                if case == "missed": ask(3)
                if case == "swallowed":
                    try: ask(3)
                    except BaseException: ask(1), ask(2)
    """
    suite(code, "--cassette-mode=record").assert_outcomes(passed=5)
    result = suite(None)
    result.assert_outcomes(passed=4, failed=1, errors=3)  # the first three pass, and are found out at the end
    text = result.stdout.str()
    for words in (
        "Unused: 1 recorded interactions",
        "NotIntercepted: the run ended",
        "Miss: POST https://api.example.com/x is not in",
    ):
        assert words in text
    result.stdout.fnmatch_lines(
        [
            "1 idle, 2 missed, 1 replayed, 1 unused",
            "UNUSED   test_it.py::test_p?unused?*",
            "IDLE *",
            "MISSED *",
        ]
    )


def test_a_failing_test_saves_nothing(suite, cassettes):
    code = """
        def test_fails(cassette, ask):
            ask()
            assert False
    """
    result = suite(code, "--cassette-mode=record")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 failed", "FAILED   test_it.py::test_fails*"])
    assert cassettes() == []


def test_a_test_that_is_skipped_because_of_an_answer_is_recorded(suite, server, cassettes):
    code = """
        import pytest
        def test_skips(cassette, ask):
            if ask()["echo"]:
                pytest.skip("no")
            ask(1)
    """
    suite(code, "--cassette-mode=record").assert_outcomes(skipped=1)
    assert cassettes() == ["test_it/test_skips.json"]
    suite(None).assert_outcomes(skipped=1)
    assert len(server.requests) == 1


def test_a_skipped_test_does_not_replace_a_recording(suite, pytester, cassettes):
    code = """
        import os, pytest
        @pytest.mark.cassette
        def test_a(ask):
            ask(1)
            if "SKIP" in os.environ:
                pytest.skip("no")
            ask(2)
    """
    suite(code, "--cassette-mode=record").assert_outcomes(passed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKIP", "1")
        suite(None, "--cassette-mode=rewrite").assert_outcomes(skipped=1)
    suite(None).assert_outcomes(passed=1)


def test_other_tests_are_not_touched(suite, server):
    suite(
        f"""
        import httpx, sys, urllib.request

        def test_a():
            assert httpx.get("{server.url}").status_code == 200
            urllib.request.urlopen("{server.url}").close()
            assert "vcr" not in sys.modules
        """,
        process=True,
    ).assert_outcomes(passed=1)


def test_beside_pytest_recording(suite, pytester, server, cassettes):
    beside = ["-p", "pytest_recording.plugin"]
    code = f"""
        import httpx, pytest

        @pytest.mark.vcr
        def test_theirs():
            assert httpx.get("{server.url}/theirs").status_code == 200

        @pytest.mark.cassette
        def test_ours(ask):
            assert ask()

        @pytest.mark.vcr
        @pytest.mark.cassette
        def test_both(ask, cassette):
            ask(1)
            assert len(cassette.sent) == 1

        def test_none():
            assert httpx.get("{server.url}/live").status_code == 200
    """
    suite(code, *beside, "--record-mode=once", "--cassette-mode=record").assert_outcomes(passed=4)
    assert cassettes() == ["test_it/test_both.json", "test_it/test_ours.json"]
    assert (pytester.path / "cassettes" / "test_it" / "test_theirs.yaml").exists()
    before = len(server.requests)
    suite(None, *beside).assert_outcomes(passed=4)
    assert len(server.requests) == before + 1


@pytest.mark.slow
def test_workers_of_xdist(suite, cassettes):
    code = """
        import pytest

        @pytest.mark.cassette
        @pytest.mark.parametrize("n", range(8))
        def test_p(ask, n):
            ask(n)
    """
    result = suite(code, "--cassette-mode=record", "-p", "xdist", "-n2", process=True)
    result.assert_outcomes(passed=8)
    result.stdout.fnmatch_lines(["8 recorded"])
    assert len(cassettes()) == 8
    suite(None).assert_outcomes(passed=8)


def test_pytest_finds_the_plugin_by_itself():
    [found] = [entry for entry in entry_points(group="pytest11") if entry.name == "ellmer_harness"]
    assert found.load() is plugin


def test_orphans_and_stale_recordings_are_listed(suite, pytester):
    code = "import pytest\n@pytest.mark.cassette(max_age=30, policies=[lambda metadata: 'the model is retired'])\ndef test_a(ask): ask()\ndef test_b(ask): ..."
    suite(code, "--cassette-mode=record")
    path = pytester.path / "cassettes" / "test_it" / "test_a.json"
    cassette = json.loads(path.read_text())
    cassette["metadata"]["ellmer_harness"]["recorded_at"] = "2020-01-01T00:00:00Z"
    path.write_text(json.dumps(cassette))
    path.with_name("test_old.json").write_text(path.read_text())

    result = suite(None)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["1 replayed", "STALE *recorded * days ago; the model is retired*", "ORPHAN *test_old.json*"]
    )
    for arguments in (["-k", "test"], ["-k", "a"], ["test_it.py::test_a"]):
        suite(None, *arguments).stdout.no_fnmatch_line("ORPHAN*")


def test_an_unknown_mode_is_refused(suite):
    assert suite("def test_a(): ...", "--cassette-mode=relive").ret == pytest.ExitCode.USAGE_ERROR
