"""The modes of a cassette, their results, and the checks at the end."""

import contextlib
import contextvars
import warnings

import httpx
import pytest

from ellmer_harness import CassetteError, Miss, NotIntercepted, Refused, Unused, use_cassette

API = "https://api.example.com"
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Grüße ☃"}]}


def ask(http, body=CHAT, **options):
    with http.Client() as client:
        return client.post(f"{API}/v1/chat", json=body, **options)


class TestModes:
    def test_a_missing_cassette_says_how_to_record_it(self, tmp_path):
        told = r"no cassette .*never.json(.|\n)*pytest .*--cassette-mode=record"
        with pytest.raises(Miss, match=told), use_cassette(tmp_path / "never.json"):
            ask(httpx)

    def test_who_sends_nothing_needs_no_cassette(self, tmp_path):
        with use_cassette(tmp_path / "never.json") as cassette:
            pass
        assert cassette.verdict.state == "idle"

    def test_append_creates_its_file(self, http, server, record, tmp_path):
        for n in (1, 2):
            with use_cassette(tmp_path / "c.json", **record | {"mode": "append"}):
                ask(http, {"n": n})
        with use_cassette(tmp_path / "c.json"):
            ask(http, {"n": 2})
            ask(http, {"n": 1})

    @pytest.mark.parametrize("mode", ["append", "record"])
    def test_who_records_into_one_cassette_at_the_same_time_loses_nothing(
        self, server, record, tmp_path, mode
    ):
        options = record | {"mode": mode}
        with use_cassette(tmp_path / "c.json", **options):
            with contextvars.copy_context().run(use_cassette, tmp_path / "c.json", **options) as other:
                ask(httpx, {"n": 2})
            assert other.verdict.recorded == 1
            ask(httpx, {"n": 1})
        with use_cassette(tmp_path / "c.json"):
            ask(httpx, {"n": 1})
            ask(httpx, {"n": 2})

    def test_tests_of_a_run_that_share_a_cassette_record_it_again_together(self, server, record, tmp_path):
        for run in ("yesterday", "today"):
            for n in (1, 2, 3):
                with use_cassette(tmp_path / "c.json", **record, run=run + str(tmp_path)):
                    ask(httpx, {"n": n, "day": run})
        with use_cassette(tmp_path / "c.json"):  # nothing of yesterday is left
            for n in (3, 1, 2):
                ask(httpx, {"n": n, "day": "today"})

    def test_record_records_once_and_then_replays(self, http, server, record, tmp_path):
        options = record | {"mode": "record"}
        with use_cassette(tmp_path / "c.json", **options) as first:
            ask(http)
        with use_cassette(tmp_path / "c.json", **options) as second:
            ask(http)
        assert (first.verdict.state, second.verdict.state) == ("recorded", "replayed")
        assert len(server.requests) == 1

    def test_append_records_only_what_is_new(self, server, record, tmp_path):
        with use_cassette(tmp_path / "c.json", **record):
            ask(httpx)
        with use_cassette(tmp_path / "c.json", **record | {"mode": "append"}):
            ask(httpx)
            ask(httpx, {"new": True})
        assert len(server.requests) == 2
        with use_cassette(tmp_path / "c.json"):
            ask(httpx, {"new": True})
            ask(httpx)

    def test_append_does_not_mix_origins(self, server, record, tmp_path):
        with use_cassette(tmp_path / "c.json", **record):
            ask(httpx)
        with pytest.raises(CassetteError, match="recorded from 'test-server'"):
            use_cassette(tmp_path / "c.json", mode="append").__enter__()

    def test_live_writes_nothing_and_still_tells_what_was_sent(self, http, server, tmp_path):
        with use_cassette(tmp_path / "c.json", mode="live", routes=server.routes) as cassette:
            ask(http)
        assert cassette.sent[0].json == CHAT
        assert cassette.exchanges[0].status == 200
        assert not (tmp_path / "c.json").exists()

    def test_the_environment_sets_the_default(self, server, tmp_path, monkeypatch):
        monkeypatch.setenv("CASSETTE_MODE", "live")
        assert use_cassette(tmp_path / "c.json").mode == "live"
        monkeypatch.setenv("CASSETTE_MODE", "lvie")
        with pytest.raises(CassetteError, match="'lvie' is not a cassette mode"):
            use_cassette(tmp_path / "c.json")

    def test_a_failing_run_leaves_the_good_file_alone(self, server, record, tmp_path):
        with use_cassette(tmp_path / "c.json", **record):
            ask(httpx)
        good = (tmp_path / "c.json").read_bytes()
        with pytest.raises(ZeroDivisionError), use_cassette(tmp_path / "c.json", **record):
            assert ask(httpx, {"bad": 1}).status_code / 0
        assert (tmp_path / "c.json").read_bytes() == good
        assert [path.name for path in tmp_path.iterdir()] == ["c.json"]

    def test_a_failing_live_run_is_kept_beside_the_good_file(self, server, record, tmp_path):
        live = record | {"recorded_from": "live"}
        with pytest.raises(ZeroDivisionError), use_cassette(tmp_path / "c.json", **live):
            assert ask(httpx).status_code / 0
        assert [path.name for path in tmp_path.iterdir()] == ["c.failed.json"]
        with use_cassette(tmp_path / "c.json", **live):
            ask(httpx)
        assert [path.name for path in tmp_path.iterdir()] == ["c.json"]


class TestJudge:
    def test_a_recording_that_breaks_a_rule_is_refused(self, server, record, tmp_path):
        with (
            pytest.raises(Refused, match="tool first"),
            use_cassette(
                tmp_path / "c.json", **record, judge=lambda sent: [f"{sent[0].json['model']}: tool first"]
            ),
        ):
            ask(httpx)
        assert not (tmp_path / "c.json").exists()

    def test_a_live_one_is_saved_and_warned_about(self, server, record, tmp_path):
        with (
            pytest.warns(UserWarning, match="tool first"),
            use_cassette(
                tmp_path / "c.json", **record | {"recorded_from": "live"}, judge=lambda _: ["tool first"]
            ),
        ):
            ask(httpx)
        assert (tmp_path / "c.json").exists()

    def test_a_good_one_is_saved(self, server, record, tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with use_cassette(tmp_path / "c.json", **record, judge=lambda _: []):
                ask(httpx)
        assert (tmp_path / "c.json").exists()


class TestHeldToAccount:
    @pytest.fixture
    def path(self, server, record, tmp_path):
        with use_cassette(tmp_path / "c.json", **record):
            ask(httpx)
            ask(httpx, {"second": 2})
        return tmp_path / "c.json"

    def test_everything_must_be_played(self, http, path):
        with (
            pytest.raises(Unused, match=r"1 recorded(.|\n)*POST https://api.example.com/v1/chat"),
            use_cassette(path),
        ):
            ask(http)
        with use_cassette(path, allow_unused=True) as cassette:
            ask(http)
        assert cassette.unused() == ["POST https://api.example.com/v1/chat"]

    def test_something_must_be_intercepted(self, path):
        with pytest.raises(NotIntercepted, match="without any request"), use_cassette(path):
            pass
        with use_cassette(path, allow_idle=True, allow_unused=True):
            pass

    def test_a_client_with_a_transport_of_its_own_is_noticed(self, http, path):
        with pytest.raises(NotIntercepted), use_cassette(path):
            http.Client(transport=http.MockTransport(lambda _: http.Response(200))).get(API)

    def test_a_swallowed_miss_comes_back(self, http, path):
        def carelessly():
            with contextlib.suppress(BaseException):
                ask(http, {"third": 3})
            ask(http)

        with pytest.raises(Miss, match="is not in cassette"), use_cassette(path):
            carelessly()

    def test_a_miss_is_not_an_exception(self, http, path):
        def as_sdks_do():
            with contextlib.suppress(Exception):
                ask(http, {"third": 3})
            pytest.fail("swallowed")

        with pytest.raises(Miss), use_cassette(path):
            as_sdks_do()

    def test_the_runs_own_failure_does_not_hide_a_miss(self, http, path):
        def misread():
            try:
                ask(http, {"third": 3})
            except Miss:
                raise ValueError("what the code makes of it") from None

        with pytest.raises(Miss) as caught, use_cassette(path):
            misread()
        assert isinstance(caught.value.__cause__, ValueError)

    def test_recordings_are_played_once_in_their_order(self, http, server, record, tmp_path):
        for answer in ("one", "two"):
            server.whole({"say": answer})
        with use_cassette(tmp_path / "r.json", **record):
            ask(http), ask(http)
        with use_cassette(tmp_path / "r.json"):
            assert [ask(http).json()["say"] for _ in range(2)] == ["one", "two"]
        for repeat, expected in {"last": "one two two two", "cycle": "one two one two"}.items():
            with use_cassette(tmp_path / "r.json", on_repeat=repeat):
                assert " ".join(ask(http).json()["say"] for _ in range(4)) == expected
        with (
            pytest.raises(Miss, match="recorded 2 times, and each recording was replayed"),
            use_cassette(tmp_path / "r.json"),
        ):
            [ask(http) for _ in range(3)]


@pytest.mark.parametrize("mode", ["once", "new_episodes", "none", "all", "Replay"])
def test_a_mode_that_there_is_not_is_an_error(tmp_path, mode, monkeypatch):
    ours = {"once": "record", "new_episodes": "append", "none": "replay", "all": "rewrite"}.get(mode, "live")
    with pytest.raises(CassetteError, match=f"'{mode}' is not a cassette mode; .*{ours}"):
        use_cassette(tmp_path / "c.json", mode=mode)
    monkeypatch.setenv("CASSETTE_MODE", mode)
    with pytest.raises(CassetteError, match=f"'{mode}' is not a cassette mode"):
        use_cassette(tmp_path / "c.json")
