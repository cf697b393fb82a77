"""Fixtures of wider scope have cassettes of their own; marker options that do not exist are named; the origin of a local server."""

import json

import pytest

pytest_plugins = ["pytester"]

WIDER = """
import httpx, pytest

@pytest.fixture(scope="{scope}")
def token():
    yield httpx.post("https://api.example.com/login", json={{"n": 1}}).json()
    httpx.post("https://api.example.com/logout", json={{"n": 2}})

@pytest.fixture(scope="session")
def quiet():
    return 1

class TestIt:
    @pytest.mark.cassette
    def test_a(self, token, quiet, ask):
        assert token["echo"] and ask(1)

    @pytest.mark.cassette
    def test_b(self, token, ask):
        assert ask(2)
"""


def paths(cassettes):
    return [path for path in cassettes() if "fixture" in path]


def test_each_scope(suite, server, cassettes, pytester):
    for scope in ("class", "module", "session"):
        suite(WIDER.format(scope=scope), "--cassette-mode=rewrite").assert_outcomes(passed=2)
        asked = len(server.requests)
        result = suite(None)
        result.assert_outcomes(passed=2)
        assert len(server.requests) == asked
    folders = {path.split("/")[0] for path in paths(cassettes)}
    assert (len(paths(cassettes)), folders) == (6, {"fixtures", "test_it"})


def test_a_fixture_without_a_recording_is_a_miss(suite, server):
    suite(WIDER.format(scope="module"), "--cassette-mode=rewrite", "-k", "nothing")
    result = suite(None)
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        ["ERROR *test_a - *Miss: there is no cassette*", "ERROR *test_b - *Miss: there is no cassette*"]
    )
    result.stdout.no_fnmatch_line("*AssertionError*")
    result.stdout.no_fnmatch_line("*During handling of the above exception*")
    assert server.requests == []


def test_it_can_be_switched_off(suite, server, pytester, cassettes):
    pytester.makepyprojecttoml("[tool.pytest.ini_options]\ncassette_fixtures = false")
    pytester.path.joinpath("tox.ini").unlink()
    suite(
        """
        import pytest
        @pytest.fixture(scope="module")
        def wide():
            return 1
        @pytest.mark.cassette
        def test_a(wide, ask):
            ask(1)
        """,
        "-p",
        "ellmer_harness.pytest.plugin",
        "--cassette-mode=rewrite",
    ).assert_outcomes(passed=1)
    assert paths(cassettes) == []


@pytest.mark.parametrize("scope", ["class", "module", "session"])
def test_a_fixture_that_starts_a_server_reaches_it_by_each_name(scope, suite, server, cassettes):
    code = f"""
        import http.server, socket, threading, urllib.request
        import httpx, pytest, requests

        @pytest.fixture(scope="{scope}")
        def served():
            server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), http.server.SimpleHTTPRequestHandler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            names = ["127.0.0.1", "localhost", "0.0.0.0"]
            try:
                socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
                names.append(socket.gethostname())
            except OSError:
                pass
            for name in names:
                url = f"http://{{name}}:{{server.server_port}}/"
                assert httpx.get(url).is_success and requests.get(url).ok
                urllib.request.urlopen(url).close()
            yield
            assert httpx.get(url).is_success
            server.shutdown()
            server.server_close()

        class TestIt:
            @pytest.mark.cassette
            def test_a(self, served, ask):
                ask(1)
        """
    suite(code, "--cassette-mode=rewrite").assert_outcomes(passed=1)
    suite(None).assert_outcomes(passed=1)
    assert paths(cassettes) == []


def test_a_misspelt_option_names_itself(suite):
    result = suite("""
        import pytest
        @pytest.mark.cassette(fautls=[])
        def test_a(ask):
            ask(1)
        """)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*the marker `cassette` has the option 'fautls', which does not exist. Did you mean 'faults'?*"]
    )


@pytest.mark.parametrize(
    ("mode", "ours"), {"once": "record", "none": "replay", "new_episodes": "append", "all": "rewrite"}.items()
)
def test_a_mode_of_vcrpy_is_answered_with_ours(mode, ours, suite):
    result = suite("def test_a(): pass", f"--cassette-mode={mode}")
    result.stderr.fnmatch_lines(
        [f"*argument --cassette-mode: '{mode}' is not a cassette mode*('{mode}' of vcrpy is '{ours}')"]
    )


def test_an_option_of_vcrpy_is_answered_with_ours(suite):
    result = suite("""
        import pytest
        @pytest.mark.cassette(record_mode="none")
        def test_a(ask):
            ask(1)
        """)
    result.stdout.fnmatch_lines(["*which does not exist. Here, vcrpy's record_mode is mode=*"])


def test_the_origin_of_a_local_server_is_not_live(suite, server, pytester, cassettes):
    code = f"""
        import httpx, pytest
        @pytest.fixture
        def cassette_options():
            return {{}}
        @pytest.mark.cassette
        def test_a():
            httpx.get("{server.url}/x")
        """
    server.chunked(server.events(1, 2))
    suite(code, "--cassette-mode=rewrite").assert_outcomes(passed=1)
    [path] = cassettes()
    written = json.loads((pytester.path / "cassettes" / path).read_text())
    assert written["metadata"]["ellmer_harness"]["recorded_from"] == "this machine"
    assert "recorded_at" not in written["metadata"]["ellmer_harness"]
    assert "ms" not in written["interactions"][0]["response"]["stream"]
    suite(None).assert_outcomes(passed=1)
