"""A miss names the part that changed: the parameter, the field of a form, the part of a multipart body, the byte."""

import httpx
import pytest

from ellmer_harness import Match, Miss, use_cassette

API = "https://api.example.com"
PARAMETERS = {f"p{n}": f"value {n}" for n in range(20)}


@pytest.fixture
def miss(record, tmp_path):
    """Returns the text of the miss of a request after another one was recorded."""

    def miss(recorded, sent):
        def ask(method="POST", url="/x", **options):
            with httpx.Client() as client:
                client.request(method, API + url, **options)

        with use_cassette(tmp_path / "c.json", **record):
            ask(**recorded)
        with pytest.raises(Miss) as found, use_cassette(tmp_path / "c.json"):
            ask(**sent)
        return str(found.value)

    return miss


def changed(text):
    return [line.strip() for line in text.splitlines() if line.startswith("  ") and "pytest" not in line]


def test_the_parameter_of_twenty(miss):
    text = miss({"params": PARAMETERS}, {"params": {**PARAMETERS, "p7": "another value"}})

    assert [line.split(":")[0] for line in changed(text)] == ["parameter ~ /p7"]
    assert "another" in text
    assert len(text.partition(" is not in ")[0]) < 200  # the others of twenty are not of interest


def test_the_words_of_a_text(miss):
    assert changed(miss({"content": "one two\n"}, {"content": "one 2\n"})) == ["~ body: one [-two-]{+2+}\\n"]


def test_parameters_in_the_order_in_which_they_are_sent(miss):
    text = miss({"params": {"z": 1, "a": 1}}, {"params": {"z": 2, "a": 2, "m": 3}})

    assert [line.split(":")[0] for line in changed(text)] == [
        "parameter ~ /z",
        "parameter ~ /a",
        "parameter + /m",
    ]


def test_the_field_of_a_form(miss):
    text = miss({"data": {"a": "1", "city": "Paris"}}, {"data": {"a": "1", "city": "Rome"}})

    assert changed(text) == ["~ /city: [-Paris-]{+Rome+}"]


def test_the_part_of_a_multipart_body_and_not_its_boundary(miss):
    old = {"data": {"title": "one"}, "files": {"file": ("a.bin", b"\x00\x01", "image/png")}}
    new = {"data": {"title": "two"}, "files": {"file": ("a.bin", b"\x00\x02", "image/png")}}
    first, second = changed(miss(old, new))

    assert first == "~ /title: [-one-]{+two+}"
    assert second.startswith("~ /file: 2 bytes, sha256 [-")


def test_binary_bodies_have_a_length_and_a_first_difference(miss):
    text = miss({"content": bytes(100)}, {"content": bytes(40) + b"\x1b" + bytes(80)})

    (line,) = changed(text)
    assert line.startswith("~ body: [-100 bytes-]{+121 bytes+}, the first difference is at byte 40: ")
    assert line.endswith(": [-00 00 00 00 00 00 00 00-]{+1b 00 00 00 00 00 00 00+}")


def test_binary_bodies_have_the_kind_of_a_media_file(miss):
    (line,) = changed(miss({"content": b"\x89PNG\x00\xff1"}, {"content": b"\xff\xd8\xff\x00\xff"}))
    assert line.startswith("~ body: [-7 bytes of png-]{+5 bytes of jpg+}, the first difference is at byte 0")


def test_control_characters_are_not_shown(miss):
    text = miss({"json": {"a": "\x1b[31m one"}}, {"json": {"a": "\x1b[32m two"}})

    assert not {letter for letter in text if ord(letter) < 32} - {"\n"}


def test_a_masked_value(miss):
    old, new = ("k9Xz2Lm7Vb4Ry8NpQ1Tw", "p3Aa6Bb9Cc2Dd5Ee8Ff1")
    text = miss({"url": f"/x?token={old}&n=1"}, {"url": f"/x?token={new}&n=2"})

    assert old not in text
    assert new not in text
    assert changed(text) == ["parameter ~ /n: [-1-]{+2+}", "~ ?token: it has another value, which is masked"]


@pytest.mark.parametrize(
    ("recorded", "sent"), [('{"a":1e400}', '{"a":1e401}'), ('{"a":1,"a":2}', '{"a":3,"a":2}')]
)
def test_json_that_differs_only_in_its_spelling(miss, recorded, sent):
    headers = {"content-type": "application/json"}

    text = miss({"content": recorded, "headers": headers}, {"content": sent, "headers": headers})

    assert "~ body, from byte " in text
    assert recorded[-6:] in text
    assert sent[-6:] in text


def test_an_id_that_is_another_one_in_each_run_can_be_left_out(miss, tmp_path):
    def body(key, said):
        return {"json": {"key": f"run:{key * 16}", "said": said}}

    advice = "do not compare it: match=Match(ignore=('/key',))"
    assert advice in miss(body("a", "hi"), body("b", "hi"))
    with use_cassette(tmp_path / "c.json", match=Match(ignore=("/key",))):
        httpx.post(f"{API}/x", **body("c", "hi"))
    with pytest.raises(Miss) as found, use_cassette(tmp_path / "c.json"):
        httpx.post(f"{API}/x", **body("b", "ho"))
    assert "ignore" not in str(found.value)
