"""Nothing recorded is lost: tests that share a cassette keep each other's recordings, whatever is recorded again."""

import contextlib
import json
import threading

import httpx
import pytest

from ellmer_harness import NotIntercepted, use_cassette
from ellmer_harness.cassette import cassette_file

pytestmark = pytest.mark.slow

pytest_plugins = "pytester"
API = "https://api.example.com"
SHARED = """
import pytest

@pytest.mark.cassette("shared", allow_unused=True)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_n(cassette, ask, n):
    ask(n)
    ask(n * 10)
"""
DIRECT = """
import httpx, pytest
from ellmer_harness import use_cassette

@pytest.mark.parametrize("n", [1, 2, 3])
def test_n(request, cassette_options, n):
    with use_cassette(request.path.parent / "shared.json", allow_unused=True, **cassette_options):
        httpx.post("https://api.example.com/x", json={"n": n})
"""


def interactions(path):
    return json.loads(path.read_text())["interactions"]


def sent(path):
    return [each["request"]["body"]["json"]["n"] for each in interactions(path)]


def answers(path):
    return [each["response"]["body"]["json"] for each in interactions(path)]


@pytest.fixture
def shared(pytester):
    return pytester.path / "cassettes" / "test_it" / "shared.json"


@pytest.fixture
def ask(server):
    def ask(client, n, answer=None):
        if answer is not None:
            server.whole(answer)
        return client.post(f"{API}/x", json={"n": n}).json()

    return ask


@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["alone", "two workers"])
@pytest.mark.parametrize("mode", ["record", "rewrite", "append", "update"])
def test_tests_that_record_into_one_cassette_keep_each_others_parts(suite, shared, mode, workers):
    suite(SHARED, f"--cassette-mode={mode}", *workers, process=bool(workers)).assert_outcomes(passed=3)

    assert sorted(sent(shared)) == [1, 2, 3, 10, 20, 30]
    suite(None).assert_outcomes(passed=3)


@pytest.mark.parametrize("mode", ["record", "rewrite", "append", "update"])
def test_so_do_tests_that_open_it_themselves(suite, pytester, mode):
    suite(DIRECT, f"--cassette-mode={mode}").assert_outcomes(passed=3)

    assert sorted(sent(pytester.path / "shared.json")) == [1, 2, 3]
    suite(None).assert_outcomes(passed=3)


@pytest.mark.parametrize("mode", ["rewrite", "update"])
@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["alone", "two workers"])
def test_tests_that_name_one_cassette_share_it_without_an_option(suite, shared, mode, workers):
    named = SHARED.replace(", allow_unused=True", "")
    suite(named, "--cassette-mode=record", *workers, process=bool(workers)).assert_outcomes(passed=3)
    suite(None).assert_outcomes(passed=3)
    suite(named.replace("ask(n * 10)", "ask(n * 10 + 1)"), "test_it.py::test_n[2]", f"--cassette-mode={mode}")
    assert sorted(sent(shared)) == [1, 2, 3, 10, 21, 30]
    suite(
        named.replace("ask(n * 10)", "ask(20 if n == 2 else n * 10)"),
        "test_it.py::test_n[2]",
        f"--cassette-mode={mode}",
    )
    assert sorted(sent(shared)) == [1, 2, 3, 10, 20, 30]
    suite(named).assert_outcomes(passed=3)

    left_out = suite(named.replace("ask(n * 10)", "n == 1 or ask(n * 10)"))
    left_out.assert_outcomes(passed=3, errors=1)  # what only this test used
    left_out.stdout.fnmatch_lines(["*POST https://api.example.com/x"])


@pytest.mark.parametrize("mode", ["rewrite", "update"])
def test_one_test_is_recorded_again_and_the_others_stay(suite, shared, mode):
    suite(SHARED, "--cassette-mode=rewrite").assert_outcomes(passed=3)
    before = sent(shared)

    suite(None, "test_it.py::test_n[2]", f"--cassette-mode={mode}").assert_outcomes(passed=1)

    assert sent(shared) == before
    suite(None).assert_outcomes(passed=3)


@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["alone", "two workers"])
@pytest.mark.parametrize("mode", ["rewrite", "update"])
def test_a_changed_request_takes_the_place_of_what_this_test_had(suite, shared, mode, workers):
    """What another test uses as well stays, and so does all that only others use."""
    asks = "    ask(n)\n    ask(n * 10)\n    ask(100)\n"
    code = SHARED.partition("    ask")[0] + asks
    suite(code, "--cassette-mode=rewrite", *workers, process=bool(workers)).assert_outcomes(passed=3)
    before = sent(shared)

    changed = code.replace("ask(n * 10)\n    ask(100)", "ask(n * 10 + (n == 2))\n    n == 2 or ask(100)")
    one = "test_it.py::test_n[2]", f"--cassette-mode={mode}"
    suite(changed, *one).assert_outcomes(passed=1)

    assert sent(shared) == [21 if n == 20 else n for n in before]
    users = {each["request"]["body"]["json"]["n"]: each["tests"] for each in interactions(shared)}
    assert users[21] == ["test_it.py::test_n[2]"]
    if mode == "rewrite":
        assert sorted(users[100]) == ["test_it.py::test_n[1]", "test_it.py::test_n[3]"]
    suite(None).assert_outcomes(passed=3)

    suite(changed.replace("ask(n)", "ask(n + (n != 2) * 4)"), *one)
    assert sent(shared) == [21 if n == 20 else n for n in before]


@pytest.mark.parametrize("mode", ["rewrite", "update"])
def test_what_may_be_of_any_test_stays(suite, shared, mode):
    """A cassette that an earlier version recorded has no names of tests."""
    suite(SHARED, "--cassette-mode=rewrite").assert_outcomes(passed=3)
    cassette = json.loads(shared.read_text())
    for interaction in cassette["interactions"]:
        del interaction["tests"]
    shared.write_text(json.dumps(cassette))

    changed = SHARED.replace("n * 10", "n * 10 + (n == 2)")
    suite(changed, "test_it.py::test_n[2]", f"--cassette-mode={mode}").assert_outcomes(passed=1)

    assert sorted(sent(shared)) == [1, 2, 3, 10, 20, 21, 30]
    suite(None).assert_outcomes(passed=3)


def test_a_test_that_opens_a_cassette_twice_keeps_both_parts(suite, pytester):
    once = DIRECT.replace("[1, 2, 3]", "[1]")
    twice = once + "    with use" + once.partition("    with use")[2].replace('"n": n', '"n": 2')
    for _ in range(2):
        suite(twice, "--cassette-mode=rewrite").assert_outcomes(passed=1)
        assert sent(pytester.path / "shared.json") == [1, 2]


def test_the_answers_of_one_test_are_replaced_in_their_place(server, record, tmp_path, ask):
    path, options = tmp_path / "c.json", {**record, "allow_unused": True}
    with use_cassette(path, **options), httpx.Client() as client:
        for n in (1, 2, 3):
            ask(client, n, answer={"old": n})
    with use_cassette(path, **options), httpx.Client() as client:
        ask(client, 2, answer={"new": 2})
        ask(client, 4, answer={"new": 4})

    assert sent(path) == [1, 2, 4, 3]
    assert answers(path) == [{"old": 1}, {"new": 2}, {"new": 4}, {"old": 3}]


def test_what_another_test_writes_while_a_cassette_is_opened_stays(record, tmp_path, ask, monkeypatch):
    path, options = tmp_path / "c.json", {**record, "mode": "append", "allow_unused": True}
    with use_cassette(path, **options), httpx.Client() as client:
        ask(client, 1)
    first = path.read_bytes()
    with use_cassette(path, **options), httpx.Client() as client:
        ask(client, 2)
    other = path.read_bytes()
    path.write_bytes(first)

    def read_before_the_other_writes(file):
        data = file.read_bytes()
        file.write_bytes(other)
        return data

    monkeypatch.setattr(cassette_file, "file_bytes", read_before_the_other_writes)
    with use_cassette(path, **options), httpx.Client() as client:
        ask(client, 3)

    assert sent(path) == [1, 2, 3]


def test_without_allow_unused_a_cassette_belongs_to_one_test_and_is_replaced(record, tmp_path, ask):
    for numbers in ((1, 2), (3,)):
        with use_cassette(tmp_path / "c.json", **record), httpx.Client() as client:
            for n in numbers:
                ask(client, n)

    assert sent(tmp_path / "c.json") == [3]


def test_update_records_a_changed_request_in_its_place(server, record, tmp_path, ask):
    path = tmp_path / "c.json"
    with use_cassette(path, **record), httpx.Client() as client:
        for n in (1, 2, 3):
            ask(client, n)
    asked = len(server.requests)

    with use_cassette(path, **record | {"mode": "update"}) as cassette, httpx.Client() as client:
        for n in (1, 20, 3):
            ask(client, n)

    assert (cassette.verdict.played, cassette.verdict.recorded) == (2, 1)
    assert len(server.requests) - asked == 1
    assert sent(path) == [1, 20, 3]


def test_update_drops_what_is_not_sent_any_more(record, tmp_path, ask):
    path = tmp_path / "c.json"
    with use_cassette(path, **record), httpx.Client() as client:
        for n in (1, 2, 3):
            ask(client, n)
    with use_cassette(path, **record | {"mode": "update"}), httpx.Client() as client:
        ask(client, 3)

    assert sent(path) == [3]


def test_update_of_an_unchanged_run_leaves_the_file_as_it_is(record, tmp_path, ask):
    path = tmp_path / "c.json"
    with use_cassette(path, **record), httpx.Client() as client:
        ask(client, 1)
    before = path.stat().st_mtime_ns, path.read_bytes()
    with use_cassette(path, **record | {"mode": "update"}), httpx.Client() as client:
        ask(client, 1)

    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


def test_a_failed_update_changes_nothing(record, tmp_path, ask):
    def run(n, fails):
        with use_cassette(path, **record | {"mode": "update"}), httpx.Client() as client:
            ask(client, n)
            assert not fails

    path = tmp_path / "c.json"
    run(1, fails=False)
    before = path.read_bytes()
    with pytest.raises(AssertionError):
        run(2, fails=True)

    assert path.read_bytes() == before


def test_a_request_without_a_recorded_answer_is_an_error(server, record, tmp_path, ask):
    def slow():
        with contextlib.suppress(httpx.HTTPError), httpx.Client() as client:
            client.post(f"{API}/slow", timeout=30)

    def run():
        with use_cassette(tmp_path / "c.json", **record), httpx.Client() as client:
            waiting.start()
            while not server.requests:
                waiting.join(0.01)
            ask(client, 1)

    server.replies.append([server.over])  # an answer that does not come before the cassette is closed
    waiting = threading.Thread(target=slow, daemon=True)
    with pytest.raises(
        NotIntercepted, match=r"1 of 2 requests .* have no recorded answer; nothing was saved:\n  P"
    ):
        run()
    server.over.set()

    assert not (tmp_path / "c.json").exists()
