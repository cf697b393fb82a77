"""Names, workers, and other plugins: pytest-xdist, pytest-recording, syrupy, unittest."""

import textwrap

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

XDIST = ["-p", "xdist.plugin", "-n2"]


def test_names_of_nested_classes_other_files_and_other_folders(suite, pytester, cassettes):
    body = """
        import pytest

        class TestA:
            class TestX:
                @pytest.mark.cassette
                def test_p(self, ask): ask(1)

        class TestB:
            class TestX:
                @pytest.mark.cassette
                def test_p(self, ask): ask(2)
    """
    for folder in ("one", "two"):
        for module in ("test_m", "test_n"):
            path = pytester.path / folder / f"{module}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(textwrap.dedent(body))
    import_mode = "--import-mode=importlib"
    suite(None, import_mode, "--cassette-mode=record").assert_outcomes(passed=8)
    written = {str(path.relative_to(pytester.path)) for path in pytester.path.rglob("*.json")}
    assert written == {
        f"{folder}/cassettes/{module}/{owner}.TestX.test_p.json"
        for folder in ("one", "two")
        for module in ("test_m", "test_n")
        for owner in ("TestA", "TestB")
    }
    suite(None, import_mode).assert_outcomes(passed=8)


ODD = """
    import pytest

    IDS = ["a/b", "a:b", "a b", "A b", "..", ".", "CON", "ü", "ü" * 200, "\\U0001f600", "x" * 300, "x" * 299 + "y",
           "-", "[", "]", "::", "\\n", "\\t", "\\x00", "\\ud800", b"\\x00\\xff", b"\\x80", None, 1.5, "", "%s", "$(id)"]

    @pytest.mark.cassette
    @pytest.mark.parametrize("what", IDS)
    def test_p(ask, what, request):
        ask(IDS.index(what))
"""


@pytest.mark.parametrize("plain", [False, True])
def test_odd_parameters_each_have_a_file_that_any_system_can_hold(suite, pytester, cassettes, plain):
    if plain:  # ids as they are, not escaped
        ini = pytester.path / "tox.ini"
        escaped = "disable_test_id_escaping_and_forfeit_all_rights_to_community_support"
        ini.write_text(ini.read_text() + f"\n{escaped} = true\n")
    code = (
        ODD.replace('"\\ud800", ', "")
        .replace('"\\x00", ', "")
        .replace('"\\n", ', "")
        .replace('b"\\x00\\xff", b"\\x80", ', "")
        if plain
        else ODD
    )
    suite(code, "--cassette-mode=record").assert_outcomes(passed=22 if plain else 27)
    names = cassettes()
    assert len({name.casefold() for name in names}) == (22 if plain else 27)
    assert all(name.isascii() and len(name) < 150 and not set(name) & set(':*?"<>|\\ ') for name in names)
    suite(None).assert_outcomes(passed=22 if plain else 27)


def test_unittest(suite, cassettes):
    code = """
        import httpx, pytest, unittest

        class TestCase(unittest.TestCase):
            @pytest.mark.cassette
            def test_a(self):
                assert httpx.post("https://api.example.com/x", json={"n": 1}).json()
    """
    suite(code, "--cassette-mode=record").assert_outcomes(passed=1)
    assert cassettes() == ["test_it/TestCase.test_a.json"]
    suite(None).assert_outcomes(passed=1)


def test_orphans_under_xdist_are_what_no_worker_used(suite, pytester):
    code = """
        import pytest

        @pytest.mark.cassette
        @pytest.mark.parametrize("n", range(6))
        def test_p(ask, n): ask(n)
    """
    suite(code, "--cassette-mode=record").assert_outcomes(passed=6)
    folder = pytester.path / "cassettes" / "test_it"
    (folder / "test_old.json").write_text("{}")
    result = suite(None, *XDIST, process=True)
    result.assert_outcomes(passed=6)
    assert [line for line in result.stdout.lines if line.startswith("ORPHAN")] == [
        f"ORPHAN   {folder}/test_old.json: no test of this run used it"
    ]
    # What only a worker sees: a test that was not chosen.
    result = suite(None, *XDIST[:2], "-n1", "--deselect", "test_it.py::test_p[3]", process=True)
    result.assert_outcomes(passed=5)
    result.stdout.no_fnmatch_line("ORPHAN*")


def test_what_no_test_asks_a_shared_cassette_for(suite, server):
    code = """
        import pytest

        pytestmark = pytest.mark.cassette("shared", allow_unused=True)

        def test_a(ask, cassette):
            ask(1)
            if cassette.records:
                ask(2), ask(3), ask(4)

        def test_b(ask): ask(2)
        def test_c(ask): ask(4)
    """
    suite(code, "--cassette-mode=record").assert_outcomes(passed=3)
    for workers in ([], XDIST):
        result = suite(None, *workers, process=bool(workers))
        result.assert_outcomes(passed=3)
        [line] = [line for line in result.stdout.lines if line.startswith("UNUSED")]
        assert line.endswith("shared.json: no test of this run asked for #3 POST https://api.example.com/x")
    suite(None, "-k", "test_a").stdout.no_fnmatch_line("UNUSED*")
    suite(None, "test_it.py::test_a").stdout.no_fnmatch_line("UNUSED*")


def test_a_worker_that_dies_makes_no_orphans(suite, pytester):
    code = """
        import os, pytest

        @pytest.mark.cassette
        @pytest.mark.parametrize("n", range(4))
        def test_p(ask, n, cassette):
            ask(n)
            if n == 2 and cassette.replays: os._exit(3)
    """
    suite(code, "--cassette-mode=record").assert_outcomes(passed=4)
    result = suite(None, *XDIST, "--max-worker-restart=0", process=True)
    assert result.ret == 1
    result.stdout.no_fnmatch_line("ORPHAN*")


@pytest.mark.parametrize("workers", [[], XDIST], ids=["alone", "xdist"])
def test_beside_syrupy_and_pytest_recording(suite, server, workers):
    beside = ["-p", "syrupy", "-p", "pytest_recording.plugin", *workers]
    code = f"""
        import httpx, pytest

        @pytest.mark.cassette
        @pytest.mark.parametrize("what", ["a/b", "ü", "x y"])
        def test_ours(ask, what, snapshot):
            assert ask(len(what)) == snapshot

        @pytest.mark.vcr
        def test_theirs(snapshot):
            assert httpx.get("{server.url}/theirs").json() == snapshot
    """
    recording = suite(
        code, *beside, "--cassette-mode=record", "--record-mode=once", "--snapshot-update", process=True
    )
    recording.assert_outcomes(passed=4)
    before = len(server.requests)
    result = suite(None, *beside, process=True)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines_random(["4 snapshots passed.", "3 replayed"])
    assert len(server.requests) == before
