"""vcrpy's suites run unchanged, but no secret is written."""

import gzip
import json
import zlib

import brotli
import httpx
import pytest
import requests
import vcr as vcrpy
from vcr.request import Request

from ellmer_harness import SecretFound
from ellmer_harness.pytest.vcr import guard_vcrpy, release_vcrpy

pytest_plugins = ["pytester"]
SECRET = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"


@pytest.fixture
def vcr():
    guard_vcrpy()
    yield vcrpy
    release_vcrpy()
    assert vcrpy.config.Cassette is vcrpy.cassette.Cassette


def test_credentials_by_name_are_masked_and_replay(vcr, server, tmp_path):
    server.whole({"ok": 1}, "application/json", f"set-cookie: sid={SECRET}; Path=/")

    @vcr.use_cassette(str(tmp_path / "c.yaml"))
    def ask():
        return httpx.get(
            f"{server.url}/x?api_key={SECRET}&q=1", headers={"authorization": f"Bearer {SECRET}"}
        ).json()

    assert ask() == {"ok": 1}
    written = (tmp_path / "c.yaml").read_text()
    assert SECRET not in written
    assert "sid=REDACTED; Path=/" in written


def test_any_other_secret_is_an_error_and_nothing_is_written(vcr, server, tmp_path):
    real = httpx.HTTPTransport.handle_request
    with (
        pytest.raises(SecretFound, match="request/body"),
        vcr.use_cassette(str(tmp_path / "c.yaml")) as cassette,
    ):
        httpx.post(server.url, json={"client_secret": SECRET})
    assert cassette.play_count == 0
    assert not (tmp_path / "c.yaml").exists()
    assert httpx.HTTPTransport.handle_request is real


def test_what_vcrpy_filters_is_found_no_more(vcr, server, tmp_path):
    mine = vcr.VCR(
        filter_post_data_parameters=["client_secret"], match_on=["method", "body"], record_mode="once"
    )
    server.whole({})
    for _ in range(2):
        with mine.use_cassette(str(tmp_path / "c.yaml")) as cassette:
            httpx.post(server.url, data={"client_secret": SECRET, "a": "1"})
    assert cassette.all_played
    assert len(server.requests) == 1


def test_a_suite_of_pytest_recording_with_one_line(suite, pytester, server):
    code = f"""
        import httpx, pytest

        @pytest.fixture(scope="module")
        def vcr_config():
            return {{"filter_headers": ["x-mine"], "match_on": ["method", "uri", "body"]}}

        @pytest.mark.vcr
        def test_a(vcr):
            httpx.post("{server.url}", json={{"n": 1}}, headers={{"authorization": "Bearer {SECRET}"}})
            assert vcr.play_count == 0 or vcr.all_played
    """
    plugins = ("-p", "ellmer_harness.pytest.vcr", "-p", "pytest_recording.plugin")
    suite(code, *plugins, "--record-mode=once").assert_outcomes(passed=1)
    written = (pytester.path / "cassettes/test_it/test_a.yaml").read_text()
    assert "Bearer REDACTED" in written
    suite(None, *plugins, "--block-network").assert_outcomes(passed=1)
    assert len(server.requests) == 1


def test_a_body_that_is_an_iterator_is_searched_and_written_as_bytes(vcr, server, tmp_path):
    def parts():
        yield b"client_id=me&"
        yield b"n=1"

    with vcr.use_cassette(str(tmp_path / "c.yaml")):
        requests.post(f"{server.url}/x", data=parts(), timeout=9)
    written = (tmp_path / "c.yaml").read_text()

    assert "python/object" not in written
    assert "client_id=me&n=1" in written


def test_a_secret_in_an_iterator_is_refused(vcr, server, tmp_path):
    with pytest.raises(SecretFound), vcr.use_cassette(str(tmp_path / "c.yaml")):
        requests.post(f"{server.url}/x", data=iter([b"client_secret=", SECRET.encode()]), timeout=9)
    assert not (tmp_path / "c.yaml").exists()


def test_cassettes_that_are_opened_by_their_class_are_guarded(vcr, server, tmp_path):
    with (
        pytest.raises(SecretFound),
        vcr.cassette.Cassette.use(path=str(tmp_path / "c.yaml"), serializer=vcr.serializers.yamlserializer),
    ):
        httpx.post(server.url, json={"client_secret": SECRET})
    assert not (tmp_path / "c.yaml").exists()


def test_cookies_of_visitors_are_dropped(vcr, server, tmp_path):
    server.whole({"ok": 1}, "application/json", f"set-cookie: __cf_bm={SECRET}; Path=/")
    with vcr.use_cassette(str(tmp_path / "c.yaml")):
        httpx.get(f"{server.url}/x")

    assert "__cf_bm" not in (tmp_path / "c.yaml").read_text()


CODECS = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}


@pytest.mark.parametrize("encoding", CODECS)
def test_a_compressed_body_is_searched(vcr, server, tmp_path, encoding):
    body = CODECS[encoding](json.dumps({"client_secret": SECRET}).encode())
    server.whole(body, "application/json", f"content-encoding: {encoding}")
    with pytest.raises(SecretFound, match="response/body"), vcr.use_cassette(str(tmp_path / "c.yaml")):
        httpx.get(server.url)
    assert not (tmp_path / "c.yaml").exists()


def test_what_vcrpy_hides_as_it_saves_is_no_finding(vcr, server, tmp_path):
    server.whole({"client_secret": SECRET})
    for _ in range(2):
        with vcr.use_cassette(str(tmp_path / "c.yaml"), filter_sensitive_data=[("<SECRET>", SECRET)]):
            assert httpx.get(server.url).json() == {"client_secret": SECRET}
    assert SECRET not in (tmp_path / "c.yaml").read_text()


def test_what_a_hook_adds_as_it_saves_is_searched(vcr, server, tmp_path):
    def hook(request, response, *_):
        response["body"]["string"] = json.dumps({"client_secret": SECRET}).encode()
        return request, response

    path = str(tmp_path / "c.yaml")
    with pytest.raises(SecretFound), vcr.use_cassette(path, before_save_interaction=hook):
        httpx.get(server.url)
    assert not (tmp_path / "c.yaml").exists()


def test_metadata_and_further_fields_are_searched(vcr, server, tmp_path):
    def note(response):
        return {**response, "note": {"client_secret": SECRET}}

    with pytest.raises(SecretFound, match="metadata"), vcr.use_cassette(str(tmp_path / "c.yaml")) as cassette:
        cassette.get_metadata("client_secret", SECRET)
    path = str(tmp_path / "d.yaml")
    with pytest.raises(SecretFound, match="note"), vcr.use_cassette(path, before_record_response=note):
        httpx.get(server.url)
    assert not [*tmp_path.iterdir()]


def test_a_cassette_that_nobody_opened_raises_as_it_saves(vcr, tmp_path):
    cassette = vcr.cassette.Cassette(path=str(tmp_path / "c.yaml"))
    asked = Request("GET", "http://x/", json.dumps({"client_secret": SECRET}).encode(), {})
    cassette.append(asked, {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": b""}})
    with pytest.raises(SecretFound):
        cassette._save()
    assert not [*tmp_path.iterdir()]


def test_a_masked_parameter_replays(vcr, server, tmp_path):
    for _ in range(2):
        with vcr.use_cassette(str(tmp_path / "c.yaml")) as cassette:
            httpx.get(f"{server.url}/x?api_key={SECRET}&q=1")
    assert cassette.all_played
    assert len(server.requests) == 1
    with (
        vcr.use_cassette(str(tmp_path / "c.yaml")),
        pytest.raises(vcr.errors.CannotOverwriteExistingCassetteException),
    ):
        httpx.get(f"{server.url}/x?api_key={SECRET}&q=2")
