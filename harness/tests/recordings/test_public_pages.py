"""What everybody gets from a public page is no finding of `scan`, and what a user gets is one."""

import json

import pytest

from ellmer_harness.cli.scan import searched

TOKEN = "pfQuL0_xfW8x67C-KVQYRBwx6whEICC0FiNiMRAG"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PAGE = (
    f'<html><meta name="csrf-token" content="{TOKEN}"><a href="/out?to=x&amp;signature={TOKEN}">x</a></html>'
)
COOKIE = "_site_session=5da28da3f810d8a9d7039ad57d988c75"
BROWSER = {
    "User-Agent": ["Mozilla/5.0 (X11)"],
    "Accept-Encoding": ["gzip;q=1.0,deflate;q=0.6,identity;q=0.3"],
}


def exchange(
    method="GET",
    url="https://www.example.com/",
    sent=BROWSER,
    page=PAGE,
    kind="text/html; charset=utf-8",
    **more,
):
    return {
        "request": {"method": method, "uri": url, "headers": sent, "body": ""},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"Content-Type": [kind], **more},
            "body": {"string": page},
        },
    }


@pytest.fixture
def found(tmp_path):
    def of(*interactions):
        (tmp_path / "c.json").write_text(json.dumps({"version": 1, "interactions": interactions}))
        file = searched(tmp_path / "c.json")
        return sorted(text for _, text in (*file.problems, *file.possible))

    return of


def test_forms_links_and_cookies_of_a_public_page_are_no_findings(found):
    assert found(exchange(**{"Set-Cookie": [f"{COOKIE}; path=/"]})) == []
    again = {**BROWSER, "Cookie": [COOKIE]}
    assert found(exchange(**{"Set-Cookie": [f"{COOKIE}; path=/"]}), exchange(sent=again)) == []


SCRIPT = f'var CONFIG={{SITE:"x",API_KEY:"{TOKEN}"}};'


@pytest.mark.parametrize("kind", ["application/javascript", "text/javascript; charset=utf-8"])
def test_keys_in_a_script_of_a_public_host_are_no_findings(found, kind):
    assert found(exchange(url="https://www.example.com/app.js", page=SCRIPT, kind=kind)) == []
    assert found(exchange(url="https://www.example.com/app.js", page=f"{SCRIPT}//{GITHUB}", kind=kind))
    assert found(exchange(url="http://10.0.0.1/app.js", page=SCRIPT, kind=kind))


@pytest.mark.parametrize(
    "other",
    [
        {"method": "POST"},
        {"url": "https://www.example.com/?api_key=REDACTED"},
        {"url": "http://router.local/"},
        {"url": "http://192.168.0.1/"},
        {"sent": {"Authorization": ["REDACTED"]}},
        {"sent": {"X-Whatever": [TOKEN]}},
        {"sent": {"Cookie": [COOKIE]}},
        {"kind": "application/json", "page": json.dumps({"csrf_token": TOKEN})},
        {"page": f"<html>{GITHUB}</html>"},
        {"page": "", "Location": [f"https://app.example.com/?access_token={TOKEN}"]},
    ],
    ids=str,
)
def test_what_a_user_gets_is_a_finding(found, other):
    assert found(exchange(**other))


def test_after_a_login_a_cookie_may_be_of_a_user(found):
    first = exchange(page="<html></html>", **{"Set-Cookie": [f"{COOKIE}; path=/"]})
    login = exchange("POST", sent={**BROWSER, "Cookie": [COOKIE]}, page="<html></html>")
    assert [text.split(":")[0] for text in found(first, login)] == [
        "/interactions/0/response/headers/Set-Cookie/0",
        "/interactions/1/request/headers/Cookie/0",
    ]
    account = exchange(sent={**BROWSER, "Cookie": [COOKIE]})
    assert any(text.startswith("/interactions/2/response/body") for text in found(first, login, account))


def test_a_page_of_a_recorder_that_keeps_no_headers_is_public(tmp_path):
    keys = {"csrf_token": TOKEN, "branch_key": f"key_live_{GITHUB[4:36]}"}
    exchange = {
        "scope": "https://www.example.com:443",
        "method": "GET",
        "path": "/",
        "body": "",
        "status": 200,
    }
    for page, number in ((f"<!DOCTYPE html><html>{json.dumps(keys)}</html>", 0), (keys, 2)):
        (tmp_path / "nock.json").write_text(json.dumps([{**exchange, "response": page}]))
        file = searched(tmp_path / "nock.json")
        assert len([*file.problems, *file.possible]) == number, page
