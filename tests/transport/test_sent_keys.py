"""A key that came in never goes out: whatever quotes it, in any form, it is replaced before anything reads the answer."""

import json
import traceback
from base64 import b32encode, b64encode, encodebytes, urlsafe_b64encode
from codecs import encode
from itertools import pairwise
from textwrap import wrap
from urllib.parse import quote

import httpx
import pytest
from counted_lines import lines_of
from hypothesis import given
from hypothesis import strategies as st

import ellmer_core as ec
from ellmer_core.transport import keys_in_errors
from ellmer_core.transport.keys_in_errors import HIDDEN
from ellmer_core.transport.sent_keys import SentKeys

KEY = "sk-proj-Ab3/dE7+gH9=kL2mN5pQ8rT1uW4xY7f3A"
BEARER = {"authorization": f"Bearer {KEY}"}


def each_second(escaped):
    """Returns the key with each second letter escaped."""
    return "".join(letter if at % 2 else escaped(letter) for at, letter in enumerate(KEY))


ROWS = [KEY.encode()[at : at + 16] for at in range(0, len(KEY), 16)]
DUMPED = "\n".join(f"{16 * at:08x}  {row.hex(' '):<48}" for at, row in enumerate(ROWS))

QUOTED = {
    "as it is": f"Incorrect API key provided: {KEY}.",
    "in the header": f"Bad header: Authorization: Bearer {KEY}",
    "percent-encoded": f"/v1/chat?key={quote(KEY, safe='')}",
    "in Base64": b64encode(KEY.encode()).decode(),
    "in Base64, after a user": b64encode(f"user:{KEY}".encode()).decode(),
    "in Base64, after a scheme": urlsafe_b64encode(f"Bearer {KEY} HTTP/1.1".encode()).decode(),
    "in Base64, in lines": encodebytes(
        f'{{"authorization": "Bearer {KEY}", "accept": "{"*" * 40}"}}'.encode()
    ).decode(),
    "in Base64, in lines within JSON": "\\n".join(
        wrap(b64encode(f"GET / Bearer {KEY}".encode()).decode(), 20)
    ),
    "in Base64, cut off": b64encode(f"Authorization: Bearer {KEY}".encode()).decode()[:60],
    "in Base64 twice": b64encode(b64encode(KEY.encode())).decode(),
    "in Base64, percent-encoded before": b64encode(quote(KEY, safe="").encode()).decode(),
    "percent-encoded twice": quote(quote(KEY, safe=""), safe=""),
    "percent-encoded in lower case": quote(KEY, safe="")
    .replace("%2F", "%2f")
    .replace("%2B", "%2b")
    .replace("%3D", "%3d"),
    "in upper case": KEY.upper(),
    "in lower case": KEY.lower(),
    "escaped in JSON": "".join(f"\\u{ord(letter):04x}" for letter in KEY),
    "with escaped slashes": KEY.replace("/", "\\/"),
    "in hexadecimal": KEY.encode().hex(),
    "escaped in JSON, its first letter": f"\\u{ord(KEY[0]):04x}{KEY[1:]}",
    "escaped in JSON, each second letter": each_second(lambda letter: f"\\u{ord(letter):04X}"),
    "escaped in JSON twice": each_second(lambda letter: f"\\\\u{ord(letter):04x}"),
    "escaped in Python": each_second(lambda letter: f"\\x{ord(letter):02x}"),
    "escaped in JavaScript": each_second(lambda letter: f"\\u{{{ord(letter):x}}}"),
    "percent-encoded, each letter": "".join(f"%{ord(letter):02x}" for letter in KEY),
    "percent-encoded twice, each second letter": each_second(lambda letter: f"%25{ord(letter):02X}"),
    "escaped in HTML": "".join(f"&#{ord(letter)};" for letter in KEY),
    "escaped in HTML, in hexadecimal": each_second(lambda letter: f"&#x{ord(letter):X};"),
    "escaped in HTML twice": each_second(lambda letter: f"&amp;#{ord(letter):04};"),
    "quoted-printable": each_second(lambda letter: f"={ord(letter):02X}"),
    "escaped in three ways, a part": each_second(lambda letter: f"%{ord(letter):02x}")[:30],
    "masked": "Incorrect API key provided: sk-proj-****************7f3A.",
    "with dots": "The key sk-proj-Ab3... was revoked.",
    "masked in its middle": "The key ***Ab3/dE7*** was revoked.",
    "masked with words": "The key sk-proj-[redacted]7f3A or <hidden>Y7f3A was revoked.",
    "masked with letters": "The key sk-proj-XXXXXXXXXXXXxY7f3A was revoked.",
    "masked, with spaces": "The key sk-proj-Ab3d ... Y7f3A was revoked.",
    "its first twelve characters": f"Unknown key {KEY[:12]}",
    "six characters": f"Unknown key {KEY[20:26]}",
    "six characters in lower case": f"Unknown key {KEY[20:26].lower()}",
    "in hexadecimal, with colons": ":".join(wrap(KEY.encode().hex(), 2)),
    "in hexadecimal, with spaces, in capitals": " ".join(wrap(KEY.encode().hex().upper(), 2)),
    "in hexadecimal, as a program has it": ", ".join(f"0x{code:02x}" for code in KEY.encode()),
    "in hexadecimal, cut off": KEY[8:20].encode().hex(),
    "in hexadecimal, in UTF-16": KEY.encode("utf-16-le").hex(),
    "in octal": "".join(f"\\{code:03o}" for code in KEY.encode()),
    "in octal, with each second letter": each_second(lambda letter: f"\\{ord(letter):03o}"),
    "in decimal numbers": str(list(KEY.encode())),
    "in octal numbers": " ".join(f"{code:o}" for code in KEY.encode()),
    "in binary": " ".join(f"{code:08b}" for code in KEY.encode()),
    "in Base32": b32encode(KEY.encode()).decode(),
    "in Base32, within others, in lower case": b32encode(f"key={KEY}&x=1".encode()).decode().lower(),
    "in Base32, cut off": b32encode(f"key={KEY}&x=1".encode()).decode()[3:44],
    "in Base64, in UTF-16": b64encode(KEY.encode("utf-16-le")).decode(),
    "in Base64 in Base32": b32encode(b64encode(KEY.encode())).decode(),
    "from behind": KEY[::-1],
    "from behind, a part": f"Unknown key {KEY[8:22][::-1]}",
    "from behind, in lower case": KEY[::-1].lower(),
    "in Base64, from behind": b64encode(KEY.encode()).decode()[::-1],
    "in Base64, within others, from behind": b64encode(f"key={KEY}&x=1".encode()).decode()[::-1],
    "in Base64, in upper case": b64encode(KEY.encode()).decode().upper(),
    "in Base64, percent-encoded": "".join(f"%{code:02x}" for code in b64encode(KEY.encode())),
    "in hexadecimal, from behind": KEY.encode().hex()[::-1],
    "percent-encoded, from behind": "".join(f"%{code:02x}" for code in KEY.encode())[::-1],
    "in the wide escapes of Python": "".join(f"\\U{code:08x}" for code in KEY.encode()),
    "in ROT13": encode(KEY, "rot13"),
    "letter by letter": " ".join(KEY),
    "in letters of a list": json.dumps(list(KEY)),
    "over lines": "\n".join(wrap(KEY, 5)),
    "with invisible letters": "\u200b".join(KEY),
    "in wide letters": KEY.translate({code: code + 0xFEE0 for code in range(33, 127)}),
    "percent-encoded in JSON's escapes": "".join(f"\\u0025{ord(letter):02x}" for letter in KEY),
    "in calls of SQL": "||".join(f"CHR({code})" for code in KEY.encode()),
    "in code points": " ".join(f"U+{code:04X}" for code in KEY.encode()),
    "in escapes of Perl": "".join(f"\\x{{{code:x}}}" for code in KEY.encode()),
    "in decimal digits alone": "".join(f"{code:03}" for code in KEY.encode()),
    "in octal, as a program has it": ", ".join(f"0o{code:o}" for code in KEY.encode()),
    "in words of hexadecimal": " ".join(f"0x{word}" for word in wrap(KEY.encode().hex(), 8)),
    "in Base64, in quotes": '" + "'.join(wrap(b64encode(KEY.encode()).decode(), 12)),
    "in Base32, in groups": "-".join(wrap(b32encode(KEY.encode()).decode(), 4)),
    "in Base32, in groups, in a sentence": f"The key provided: {' '.join(wrap(b32encode(KEY.encode()).decode(), 8))} is invalid.",
    "in Base32, in groups of 16": " ".join(wrap(b32encode(f"Bearer {KEY}".encode()).decode(), 16)),
    "in Base64, in lines of 8, in a sentence": "provided: "
    + "\n".join(wrap(b64encode(f"Bearer {KEY}".encode()).decode(), 8)),
    "with backslashes between": "\\".join(KEY[8:]),
    "in Base64, hyphenated": "-\n".join(wrap(b64encode(f"Bearer {KEY}".encode()).decode(), 12)),
    "in numbers with their places": json.dumps({str(at): code for at, code in enumerate(KEY.encode())}),
    "in numbers with their type": ", ".join(f"{code}u8" for code in KEY.encode()),
    "in numbers with a fraction": " ".join(f"{code}.0" for code in KEY.encode()),
    "in two bytes for each letter": ", ".join(f"{code}, 0" for code in KEY.encode()),
    "in a dump of bytes": DUMPED,
    "in a dump of bytes, in octal": "\n".join(
        f"{16 * at:07o} " + " ".join(f"{code:03o}" for code in row) for at, row in enumerate(ROWS)
    ),
    "with named marks": KEY.replace("-", "&hyphen;").replace("/", "&sol;"),
    "its beginning": f"Unknown key {KEY[:16]}",
    "its end": "The key that ends in Y7f3A was revoked.",
}
LEAKS = (
    KEY,
    KEY[:13],
    KEY[-5:],
    KEY[10:24],
    b64encode(KEY.encode()).decode()[4:20],
    KEY.encode().hex()[4:30],
    KEY[::-1].lower()[10:24],
    b64encode(KEY.encode()).decode()[4:20][::-1],
    b64encode(f"key={KEY}&x=1".encode()).decode()[12:36][::-1],
    b64encode(KEY.encode()).decode()[4:20].upper(),
    "".join(f"%{code:02x}" for code in b64encode(KEY.encode()))[12:40],
    KEY.encode().hex()[4:30][::-1],
    "".join(f"%{code:02x}" for code in KEY.encode())[30:60][::-1],
    "".join(f"\\U{code:08x}" for code in KEY.encode())[40:80],
    KEY.upper()[10:24],
    KEY.lower()[10:24],
    "".join(f"\\u{ord(letter):04x}" for letter in KEY[4:9]),
    quote(KEY[8:], safe="%")[:20],
    KEY[20:26],
    KEY[20:26].lower(),
    KEY[8:22][::-1],
    KEY[8:12],
    KEY[8:15],
    encode(KEY, "rot13")[8:20],
    ":".join(wrap(KEY.encode().hex(), 2))[30:60],
    " ".join(wrap(KEY.encode().hex().upper(), 2))[30:60],
    ", ".join(f"0x{code:02x}" for code in KEY.encode())[60:90],
    KEY[9:19].encode().hex(),
    KEY[9:19].encode("utf-16-le").hex(),
    "".join(f"\\{code:03o}" for code in KEY.encode())[40:60],
    str(list(KEY.encode()))[40:60],
    " ".join(f"{code:08b}" for code in KEY.encode())[40:80],
    b32encode(KEY.encode()).decode()[16:30],
    " ".join(KEY)[20:40],
    json.dumps(list(KEY))[40:80],
    "||".join(f"CHR({code})" for code in KEY.encode())[90:150],
    " ".join(f"U+{code:04X}" for code in KEY.encode())[70:120],
    "".join(f"\\x{{{code:x}}}" for code in KEY.encode())[60:110],
    "".join(f"{code:03}" for code in KEY.encode())[30:60],
    ", ".join(f"0o{code:o}" for code in KEY.encode())[70:120],
    " ".join(f"0x{word}" for word in wrap(KEY.encode().hex(), 8))[22:43],
    '" + "'.join(wrap(b64encode(KEY.encode()).decode(), 12))[17:46],
    "-".join(wrap(b32encode(KEY.encode()).decode(), 4))[20:50],
    "\u200b".join(KEY)[20:40],
    " ".join(wrap(b32encode(KEY.encode()).decode(), 8))[16:40],
    " ".join(wrap(b32encode(f"Bearer {KEY}".encode()).decode(), 16))[40:60],
    "\n".join(wrap(b64encode(f"Bearer {KEY}".encode()).decode(), 8))[30:50],
    "".join(f'"{at}": {code}, ' for at, code in enumerate(KEY.encode()))[100:140],
    ", ".join(f"{code}u8" for code in KEY.encode())[60:100],
    " ".join(f"{code}.0" for code in KEY.encode())[60:100],
    ", ".join(f"{code}, 0" for code in KEY.encode())[60:100],
    ROWS[1].hex(" "),
    "\\".join(KEY)[30:60],
    "-\n".join(wrap(b64encode(f"Bearer {KEY}".encode()).decode(), 12))[30:50],
    ROWS[2].hex(" "),
    " ".join(f"{code:03o}" for code in ROWS[2]),
)
SSE = {"content-type": "text/event-stream"}


def said(error):
    parts = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    return "".join(parts)


def answering(respond):
    client = httpx.Client(transport=httpx.MockTransport(respond))
    return ec.chat_openai_completions(api_key=KEY, model="m", client=client, max_tries=1, echo="none")


ERRORS = [
    *(pytest.param(401, text, id=name) for name, text in QUOTED.items()),
    *(pytest.param(status, QUOTED["in Base64"], id=str(status)) for status in (400, 429, 500)),
]


@pytest.mark.parametrize(("status", "text"), ERRORS)
def test_no_error_has_the_key(status, text, caplog):
    body = {"error": {"message": text, "code": text, "param": {"deep": [text]}}, text: 1}
    headers = {"x-request-id": text if text.isascii() else KEY}
    chat = answering(lambda _: httpx.Response(status, json=body, headers=headers))
    with pytest.raises(ec.ProviderError) as raised:
        chat.chat("Hi")
    assert [leak for leak in LEAKS if leak in said(raised.value) + caplog.text] == []
    assert HIDDEN in str(raised.value)
    assert HIDDEN in raised.value.request_id
    assert HIDDEN in json.dumps(raised.value.body)


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_no_error_inside_a_stream_has_the_key(text):
    body = b"data: " + json.dumps({"error": {"message": text}}).encode() + b"\n\n"
    chat = answering(lambda _: httpx.Response(200, content=body, headers=SSE))
    with pytest.raises(ec.ProviderError) as raised:
        list(chat.stream("Hi"))
    assert [leak for leak in LEAKS if leak in said(raised.value)] == []


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_no_answer_has_the_key(size):
    text = f"You sent {KEY}."
    event = {
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}],
        "debug": {KEY: KEY},
    }
    body = b"data: " + json.dumps(event).encode() + b"\n\ndata: [DONE]\n\n"
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    chat = answering(lambda _: httpx.Response(200, content=iter(chunks), headers=SSE))
    assert "".join(chat.stream("Hi")) == f"You sent {HIDDEN}."
    whole = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "debug": KEY}
    other = answering(lambda _: httpx.Response(200, json=whole))
    assert other.chat("Hi") == f"You sent {HIDDEN}."
    assert KEY not in json.dumps([chat.record(), other.record()]) + repr(other.last_turn().json)


ESCAPED = "".join(letter if at % 3 else f"\\u{ord(letter):04x}" for at, letter in enumerate(KEY))


@pytest.mark.parametrize("size", [1, 5, 23, 10_000])
def test_no_answer_has_the_key_with_escaped_letters(size):
    event = b'{"choices": [{"index": 0, "delta": {"content": "You sent %s."}, "finish_reason": "stop"}]}'
    body = b"data: " + event % ESCAPED.encode() + b"\n\ndata: [DONE]\n\n"
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    chat = answering(lambda _: httpx.Response(200, content=iter(chunks), headers=SSE))
    assert "".join(chat.stream("Hi")) == f"You sent {HIDDEN}."
    whole = event.replace(b"delta", b"message") % ESCAPED.encode()
    other = answering(
        lambda _: httpx.Response(200, content=whole, headers={"content-type": "application/json"})
    )
    assert other.chat("Hi") == f"You sent {HIDDEN}."


@given(
    st.lists(
        st.sampled_from(
            ["{}", "\\u{:04x}", "\\x{:02X}", "%{:02x}", "%25{:02X}", "&#{};", "&#x{:x}", "={:02X}"]
        )
    )
)
def test_an_error_has_no_letter_of_the_key_however_each_is_escaped(forms):
    letters = [
        form.format(ord(letter)) if form != "{}" else letter for letter, form in zip(KEY, forms, strict=False)
    ]
    text = "The key " + "".join(letters) + KEY[len(letters) :] + " is wrong."
    assert SentKeys(BEARER).hidden_in_error(text) == f"The key {HIDDEN} is wrong."


@pytest.mark.parametrize("size", [1_500, pytest.param(5_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("unit", ["\\", "%25", "&amp;", "&#x0", "\\u{0", "\\u0073", "%73%6b-", KEY[:9], "a"])
def test_escapes_are_read_in_linear_time(unit, size, monkeypatch):
    """Lines of Python are counted, and characters that are searched. `test_linear_patterns.py` counts what expressions do in a text."""
    sizes = size, 2 * size, 4 * size
    keys, texts = SentKeys(BEARER), ["Key: " + unit * (length // len(unit)) for length in sizes]
    few, more, many = (lines_of(lambda text=text: keys.hidden_in_error(text)) for text in texts)
    assert more < 2.3 * few + 1000
    assert many < 2.3 * more + 1000
    searches = [searched(unit, length, monkeypatch) for length in sizes]
    assert [count for count, _ in searches] == [searches[0][0]] * 3
    assert searches[2][1] < 2.3 * searches[1][1] < 5.3 * searches[0][1]


@pytest.mark.parametrize("end", [KEY[:1], KEY[:14]])
def test_texts_that_end_with_the_beginning_of_a_key_are_not_looked_at_again(end):
    def read(size):
        keys = SentKeys(BEARER)
        for number in range(size):
            event = {f"field_{number}": f"hello {end}"}
            keys.hidden_in_events(json.dumps(event).encode(), [event])

    read(10)
    few, many = (lines_of(lambda size=size: read(size)) for size in (100, 200))
    assert many < 2.3 * few


MEGABYTES = {
    "letters": "x",
    "words": "The model is not found. ",
    "numbers": "99 107 45 ",
    "digits": "7",
    "hexadecimal": "6b2d70",
    "escapes": "\\u0073",
    "backslashes": "\\",
    "Base32": b32encode(bytes(range(256)) * 5).decode(),
    "Base64 in runs": f"{b64encode(bytes(range(100, 112))).decode()} ",
    "Base64 in Base64": b64encode(b64encode(bytes(range(81)))).decode(),
    "masked words": "ab3d***",
    "its parts": KEY[8:22],
    "its pieces": f"{KEY[20:24]} ",
}


def searched(unit, size, monkeypatch):
    """Returns how many texts of an error are searched for parts of the key, and how many characters they have."""
    sizes, real = [], keys_in_errors._spans
    monkeypatch.setattr(
        keys_in_errors,
        "_spans",
        lambda text, *words, **options: sizes.append(len(text)) or real(text, *words, **options),
    )
    SentKeys(BEARER).hidden_in_body((unit * (size // len(unit))).encode(), failed=True)
    monkeypatch.undo()
    return len(sizes), sum(sizes)


@pytest.mark.parametrize("unit", MEGABYTES.values(), ids=MEGABYTES)
def test_an_error_is_searched_as_often_however_long_it_is(unit, monkeypatch):
    few, many = (searched(unit, size, monkeypatch) for size in (20_800, 41_600))
    assert many[0] <= few[0]  # each run decoded by itself would be searched by itself
    assert many[1] < 2.2 * few[1]
    assert few[1] < 60 * 20_800


def test_an_error_of_many_short_texts_is_looked_at_once():
    keys, event = SentKeys(BEARER), {"error": {"loc": ["abcd"] * 5_000 + [KEY]}}
    real, looked = keys.hidden_in_error, []
    keys.hidden_in_error = lambda text: looked.append(text) or real(text)
    [shown] = keys.hidden_in_events(b"", [event], last=True)
    assert len(looked) <= 6  # all together, and each that differs
    assert shown["error"]["loc"][-2:] == ["abcd", HIDDEN]


def test_runs_that_have_parts_only_together_stay():
    half, rest = (
        b64encode(part.encode()).decode() for part in (f"of words {KEY[14:20]}", f"{KEY[20:26]} of others")
    )
    text = f"{half} {rest}"
    assert SentKeys(BEARER).hidden_in_error(text) == text


def test_a_redirect_to_an_address_with_the_key_does_not_show_it():
    chat = answering(lambda _: httpx.Response(307, headers={"location": f"https://x.test/?key={KEY}"}))
    with pytest.raises(ec.ProviderError) as raised:
        chat.chat("Hi")
    assert KEY not in said(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided. You can find your API key in the settings...",
        "Rate limit reached for gpt-4o in organization org-Ab3: Limit 7, used 3.",
        '{"error": {"code": 73, "message": "The model `m` does not exist."}, "created": 1772755200}',
    ],
)
def test_other_words_stay(text):
    assert SentKeys(BEARER).hidden_in_error(text) == text
    assert SentKeys({"x-api-key": "ollama", "accept": "*/*"}).hidden_in_error(text) == text


def test_a_word_in_a_key_is_a_word_in_errors():
    keys = SentKeys({"authorization": "Bearer conformance-key-4e7a90c1d2"})
    text = "Rate limit reached in organization org-conformance."
    assert keys.hidden_in_error(text) == text
    assert keys.hidden_in_error("Unknown key mance-key-4e7a") == f"Unknown key {HIDDEN}"


def test_a_dummy_key_is_a_word_in_answers():
    keys = SentKeys({"authorization": "Bearer not-needed"})
    body = b'{"text": "That is not-needed."}'
    assert keys.hidden_in_body(body, failed=False) == body
    assert b"not-needed" not in keys.hidden_in_body(body, failed=True)


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_crash_it(body, failed):
    assert SentKeys(BEARER).hidden_in_body(body, failed=failed) == body


def streamed_text(pieces):
    """Returns the text of a stream with these pieces, what was yielded, and the saved chat."""
    deltas = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
    events = [*deltas, {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    chat = answering(lambda _: httpx.Response(200, headers=SSE, text=body))
    yielded = list(chat.stream("Hi"))
    return chat.last_turn().text, "".join(yielded), json.dumps(chat.record())


FORMS = {"as it is": KEY, "in hexadecimal": KEY.encode().hex(), "in Base64": b64encode(KEY.encode()).decode()}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_key_in_two_deltas_is_replaced(form):
    for place in range(4, len(form)):
        for told in streamed_text(["Your key is ", form[:place], form[place:] + ", isn't it?"]):
            assert form not in told
            assert form[:8] not in told
            assert f"Your key is {HIDDEN}" in told


@given(st.lists(st.integers(4, len(KEY) - 1), max_size=4))
def test_a_key_in_more_deltas_is_replaced(places):
    cuts = [0, *sorted(set(places)), len(KEY)]
    pieces = [KEY[start:end] for start, end in pairwise(cuts)]
    text, yielded, _ = streamed_text(["x ", *pieces, " y"])
    assert (text, yielded) == (f"x {HIDDEN} y",) * 2


def test_the_beginning_of_a_key_that_does_not_go_on_is_text():
    for pieces in (["a sk-p", "et"], ["a sk-proj-"], ["sk-pro", "", "j-"], ["in sk-p", "roj-X"]):
        text, yielded, _ = streamed_text(pieces)
        assert text == yielded == "".join(pieces)


@given(st.lists(st.integers(1, len(KEY) - 1)), st.booleans())
def test_a_key_in_any_deltas_is_replaced_from_its_fourth_character_on(places, other):
    cuts = [0, *sorted(set(places)), len(KEY)]
    pieces = [KEY[start:end] for start, end in pairwise(cuts)]
    for told in streamed_text([each for piece in pieces for each in ([piece, ""] if other else [piece])]):
        assert HIDDEN in told
        assert KEY[:5] not in told
        assert KEY[3:] not in told


@pytest.mark.parametrize(
    "text", ["sk-proj-Ab3/d...", "key …Y7f3A", "****7f3A", "sk-proj-Ab3/***", f"{KEY[:14]} is wrong"]
)
def test_an_answer_has_no_beginning_and_no_end_of_the_key(text):
    keys = SentKeys(BEARER)
    body = json.dumps({"text": text}, ensure_ascii=False).encode()
    assert HIDDEN.encode() in keys.hidden_in_body(body, failed=False)
    assert HIDDEN in keys.hidden_in_events(body, [{"text": text}], last=True)[0]["text"]


def test_an_image_with_any_letters_of_a_key_stays():
    """Two megabytes of base64 have any four letters, and four times an x somewhere behind them."""
    keys = SentKeys({"authorization": "Bearer 9f8e7d6c5b4a39281706f5e4d3c2b1a0"})
    numbers = " ".join(f"{each} and so on" for each in (57, 102, 56, 101, 55, 100, 54, 99, 53, 98))
    for text in (f"AAAA9f8e{'B' * 300}xxxx{'C' * 300}", f"xxxx{'B' * 300}b1a0", f"{'D' * 300} {numbers}"):
        event = {"text": text}
        assert keys.hidden_in_events(json.dumps(event).encode(), [event], last=True) == [{"text": text}]


@pytest.mark.parametrize(
    "text", ["A key begins with sk-proj-...", "sk-...", "the word 7f3A", "and so on...", "sk-proj-"]
)
def test_an_answer_may_speak_of_keys(text):
    keys = SentKeys(BEARER)
    body = json.dumps({"text": text}).encode()
    assert keys.hidden_in_body(body, failed=False) == body
    assert keys.hidden_in_events(body, [{"text": text}], last=True) == [{"text": text}]


def test_a_key_that_begins_in_what_events_have_in_common_is_held_back():
    keys, shown = SentKeys(BEARER), []
    for text in ("sk-a", "sk-b", KEY[:20], KEY[20:]):
        event = {"id": "chat-1", "text": text, "reason": None}
        shown += keys.hidden_in_events(f"data: {json.dumps(event)}\n\n".encode(), [event])
    assert [event["text"] for event in shown] == ["sk-a", "sk-b", "", HIDDEN]


HEX = KEY.encode().hex()
PARTS = st.sampled_from(
    [
        KEY,
        KEY[:3],
        KEY[:9],
        KEY[3:],
        KEY[9:],
        KEY.upper(),
        HEX,
        HEX[:3],
        HEX[3:],
        HEX[:40],
        HEX[40:],
        "3A",
        "sk",
        "-",
        "words",
        "",
    ]
)


@given(st.lists(st.tuples(PARTS, PARTS), min_size=2, max_size=8), PARTS, PARTS, st.integers(1, 400))
def test_what_events_have_in_common_is_searched_once_and_nothing_is_missed(texts, first, last, cut):
    events = [{"id": first, "text": one + other, "reason": last} for one, other in texts]
    data = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
    chunks = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    remembering, forgetting = SentKeys(BEARER), SentKeys(BEARER)
    for chunk, event in [*zip(chunks, events, strict=True), (data[:cut], {}), (data[cut:], {})]:
        forgetting._usual = type(forgetting._usual)()
        told = [
            keys.hidden_in_events(chunk, [json.loads(json.dumps(event))])
            for keys in (remembering, forgetting)
        ]
        assert told[0] == told[1]


@pytest.mark.parametrize("before", [0, 4, 20])
def test_a_key_with_other_marks_is_found_in_what_differs(before):
    other = KEY.replace("-", "_").replace("f3A", "f_3A")  # no beginning and no end is as in the key
    keys, shown = SentKeys(BEARER), []
    for text in ("word", "many", other[before:]):
        event = {"text": other[:before], "more": text}
        chunk = f"data: {json.dumps(event, separators=(',', ':'))}\n\n".replace('","more":"', "").encode()
        event = json.loads(chunk[6:])
        shown += keys.hidden_in_events(chunk, [event])
    assert [other in str(event) for event in shown] == [False, False, False]


def test_texts_of_two_places_are_read_apart():
    events = [{"a": KEY[:9]}, {"b": "x"}, {"a": KEY[9:] + "!"}, {"b": "y"}]
    keys = SentKeys(BEARER)
    shown = [event for each in events for event in keys.hidden_in_events(json.dumps(each).encode(), [each])]
    shown += keys.hidden_in_events(b"", [], last=True)
    assert shown == [{"a": ""}, {"b": "x"}, {"a": f"{HIDDEN}!"}, {"b": "y"}]


@pytest.mark.parametrize("failed", [True, False])
def test_no_header_of_an_answer_has_the_key(failed):
    headers = {"x-request-id": f"id {KEY.encode().hex(':')}", "date": "Fri, 27 Nov 2026 23:00:00 GMT"}
    shown = SentKeys(BEARER).hidden_in_headers(headers, failed=failed)
    assert shown == headers | {"x-request-id": f"id {HIDDEN}"}


@pytest.mark.parametrize("encoded", [b64encode, b32encode, lambda key: key.hex().encode()])
@pytest.mark.parametrize("length", [4, 5, 6, 8])
def test_words_of_the_length_of_a_key_s_pieces_stay(encoded, length):
    before, behind = "with that model from your other gateway", "they said: please renew this request again"
    pieces = wrap(encoded(KEY.encode()).decode().rstrip("="), length)

    shown = SentKeys(BEARER).hidden_in_error(f"{before} {' '.join(pieces)} {behind}")

    assert shown.startswith(f"{before} ")
    assert shown.endswith(f" {behind}")
    assert not {*shown.split()} & {*pieces[len("sk-proj-") * 2 // length + 1 :]}
