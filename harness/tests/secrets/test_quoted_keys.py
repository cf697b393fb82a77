"""A recording of another tool, whose answer quotes the key of its request: what is printed of it has no key."""

import json
from base64 import b64encode
from urllib.parse import quote

import pytest

from ellmer_harness.cli import main

KEY = "sk-proj-Zq7Xv9Lm2Rt5Wb8Nc4Kd6Hf1"
FORMS = {
    "as it is": KEY,
    "in upper case": KEY.upper(),
    "backwards": KEY[::-1],
    "with each letter escaped": "".join(f"%{ord(letter):02x}" for letter in KEY),
    "in hexadecimal": KEY.encode().hex(),
    "in Base64": b64encode(KEY.encode()).decode().rstrip("="),
    "in Base64 with its scheme": b64encode(f"Bearer {KEY}".encode()).decode().rstrip("=")[10:],
}
SENT = {
    "bearer": ([("Authorization", f"Bearer {KEY}")], ""),
    "basic": ([("Authorization", f"Basic {b64encode(f'user:{KEY}'.encode()).decode()}")], ""),
    "cookie": ([("Cookie", f"a=1; sid={KEY}")], ""),
    "parameter": ([], f"?key={quote(KEY, safe='')}"),
}


def _har(quoted, headers, query):
    entry = {
        "startedDateTime": "2026-11-01T00:00:00Z",
        "request": {
            "method": "POST",
            "url": f"https://api.example.com/v1/chat{query}",
            "headers": [{"name": name, "value": value} for name, value in headers],
            "postData": {"mimeType": "application/json", "text": "{}"},
        },
        "response": {
            "status": 401,
            "statusText": f"no {quoted}",
            "headers": [
                {"name": "x-said", "value": quoted},
                {"name": "content-type", "value": "application/json"},
            ],
            "content": {
                "mimeType": "application/json",
                "text": json.dumps({"error": f"no {quoted}", quoted: 1}),
            },
        },
    }
    return json.dumps({"log": {"version": "1.2", "entries": [entry]}})


@pytest.mark.parametrize("sent", SENT)
@pytest.mark.parametrize("form", FORMS)
def test_no_command_prints_the_key_that_an_answer_quotes(form, sent, tmp_path, capfd):
    (tmp_path / "a.har").write_text(_har(FORMS[form], *SENT[sent]))
    (tmp_path / "b.har").write_text(_har("another text", *SENT[sent]))
    main(["show", str(tmp_path / "a.har")])
    shown = capfd.readouterr().out
    assert "[key]" in shown
    main(["diff", "--headers", str(tmp_path / "a.har"), str(tmp_path / "b.har")])
    main(["ls", str(tmp_path)])
    main(["scan", str(tmp_path)])
    printed = capfd.readouterr()
    for text in (shown, printed.out, printed.err):
        assert FORMS[form] not in text
        assert KEY not in text


@pytest.mark.parametrize("form", FORMS)
def test_a_raw_message_has_the_key_only_in_its_body(form, tmp_path, capfd):
    (tmp_path / "a.har").write_text(_har(FORMS[form], *SENT["bearer"]))
    main(["show", "--raw", str(tmp_path / "a.har")])
    *head, _body = capfd.readouterr().out.rstrip("\n").split("\n\n")
    assert FORMS[form] not in "".join(head)
