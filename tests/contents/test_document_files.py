"""Files of any kind: they are sent if the API accepts them, else as their text, else refused before the request."""

import json
from base64 import b64decode, b64encode

import docx
import openpyxl
import pytest

import ellmer_core as ec
from ellmer_core.contents.content import ContentFile, ContentImageInline, ContentPDF, ContentText
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.mistral.to_wire import MistralChat
from ellmer_core.wire.ollama.to_wire import OllamaChat
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

PNG = b"\x89PNG\r\n\x1a\n and more"
WIRES = {
    "anthropic": AnthropicMessages(model="claude-x"),
    "bedrock": Bedrock(model="amazon.nova-pro"),
    "cohere": CohereChat(model="command-a"),
    "gemini": Gemini(model="gemini-3"),
    "mistral": MistralChat(model="m"),
    "ollama": OllamaChat(model="m"),
    "openai-chat": OpenAIChat(model="m"),
    "openai-responses": OpenAIResponses(model="m"),
}


@pytest.fixture
def made(tmp_path):
    def made(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        return ec.content_file(path)

    return made


@pytest.fixture
def word(tmp_path):
    document = docx.Document()
    document.add_paragraph("Dear cat,")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "fish", "3"
    document.add_paragraph("Yours")
    document.save(tmp_path / "letter.docx")
    return ec.content_file(tmp_path / "letter.docx")


@pytest.fixture
def book(tmp_path):
    workbook = openpyxl.Workbook()
    workbook.active.title = "Prices"
    workbook.active.append(["fish", 3])
    workbook.active.append([None, None])
    workbook.active.append(["milk", 1.5])
    workbook.save(tmp_path / "prices.xlsx")
    return ec.content_file(tmp_path / "prices.xlsx")


def sent(wire, *contents):
    return json.dumps(wire.request([UserTurn(contents)]).json, ensure_ascii=False)


def test_what_a_file_is(made, word, book):
    assert made("a.bin", PNG) == ContentImageInline("image/png", b64encode(PNG).decode())
    assert isinstance(made("a", b"%PDF-1.4"), ContentPDF)
    assert made("notes.md", b"\xef\xbb\xbf# Hi") == ContentFile(
        "text/markdown", b64encode(b"\xef\xbb\xbf# Hi").decode(), "notes.md", "# Hi"
    )
    assert made("LICENCE", b"Free").type == "text/plain"
    assert made("a.json", b"{}").text == "{}"
    assert (made("a.mp3", b"ID3").type, made("a.mp3", b"ID3").text) == ("audio/mpeg", "")
    assert made("a.mp4", b"x").type == "video/mp4"
    assert word.text == "Dear cat,\nfish\t3\nYours"
    assert book.text == "# Prices\nfish\t3\nmilk\t1.5"


@pytest.mark.parametrize(
    ("name", "data", "type"),
    [
        ("song", b"ID3\x04\0", "audio/mpeg"),
        ("song", b"\xff\xfb\x90\0", "audio/mpeg"),
        ("sound", b"RIFF1234WAVEfmt ", "audio/wav"),
        ("install.sh", b"echo Hi", None),
        ("run.js", b"let a = 1", None),
        ("main.ts", b"const a = 1", "text/x-typescript"),
        ("logo.svg", b"<svg/>", "image/svg+xml"),
    ],
)
def test_the_bytes_tell_what_is_text_and_what_is_audio(made, name, data, type):
    file = made(name, data)

    assert type in {None, file.type}
    assert file.text == ("" if file.type.startswith("audio/") else data.decode())


@pytest.mark.parametrize("written", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_read_in_the_encodings_of_common_programs_and_sent_as_utf8(made, written):
    table = made("orte.csv", "Ort;Wert\nKöln;3 €".encode(written))

    assert table.text == "Ort;Wert\nKöln;3 €"
    assert b64decode(table.data).decode("utf-8-sig") == table.text


def test_what_is_named_text_and_is_none_is_an_error(made):
    for data in (b"a\0b", b"\x81\x8d", b"caf\xe9\x01"):
        with pytest.raises(ec.UsageError, match="is not text, although its type is text/csv"):
            made("a.csv", data)
    with pytest.raises(ec.UsageError, match="is empty"):
        made("a.csv", b"")


@pytest.mark.parametrize(("name", "data"), [("a.bmp", b"BM1\0"), ("a.zip", b"PK\x03\x04"), ("a.mp4", b"\0")])
def test_a_file_that_no_api_reads_is_refused_before_it_is_sent(made, name, data):
    file = made(name, data)
    claude = Bedrock(model="us.anthropic.claude-sonnet-5")

    for wire in (
        claude,
        *(wire for wire in WIRES.values() if not (name == "a.mp4" and wire.name in {"gemini", "bedrock"})),
    ):
        with pytest.raises(ec.ContentError, match="does not accept"):
            wire.request([UserTurn([file])])


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a\0b", b"\x7fELF\0\0"])
def test_bytes_that_are_no_text_are_bytes_and_are_refused_before_they_are_sent(made, tmp_path, data):
    thing = made("thing.dmp7", data)
    assert (thing.type, thing.text) == ("application/octet-stream", "")
    for wire in WIRES.values():
        with pytest.raises(ec.ContentError, match="application/octet-stream"):
            wire.request([UserTurn([thing])])
    assert ec.content_file(tmp_path / "thing.dmp7", "audio/wav").type == "audio/wav"


def test_what_cannot_be_read_is_an_error(made, tmp_path):
    for name in ("a.docx", "a.xlsx"):
        with pytest.raises(ec.UsageError, match="cannot be read as"):
            made(name, b"no zip")
    with pytest.raises(ec.UsageError, match="cannot be read"):
        ec.content_file(tmp_path / "nothing.txt")


NATIVE = {
    "openai-responses": {"type": "input_file", "filename": "prices.xlsx"},
    "bedrock": {"document": {"name": "prices", "format": "xlsx"}},
}


@pytest.mark.parametrize("name", WIRES)
def test_a_workbook_goes_as_it_is_where_the_api_takes_it_and_else_as_its_text(name, book):
    body = sent(WIRES[name], ContentText("What is cheap?"), book)

    if name in NATIVE:
        assert book.data in body
        assert "milk" not in body
        key, value = next(iter(NATIVE[name].items()))
        assert json.dumps(value if isinstance(value, str) else value["format"]) in body
        assert key in body
    else:
        assert book.data not in body
        assert "milk\\t1.5" in body or "milk\t1.5" in json.loads(json.dumps(body))
        assert "prices.xlsx" in body


def test_text_is_a_document_at_anthropic_and_a_part_at_google(made):
    notes = made("notes.txt", b"Hi")

    [message] = WIRES["anthropic"].messages([UserTurn([notes])])
    assert message["content"] == [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "Hi"},
            "title": "notes.txt",
        }
    ]
    [content] = WIRES["gemini"].messages([UserTurn([notes])])
    assert content["parts"] == [{"inlineData": {"mimeType": "text/plain", "data": "SGk="}}]
    [message] = WIRES["openai-chat"].messages([UserTurn([notes])])
    assert message["content"] == '<file name="notes.txt">\nHi\n</file>'


AUDIO = {
    "openai-chat": {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
    "gemini": {"inlineData": {"mimeType": "audio/mpeg", "data": "SUQz"}},
}


@pytest.mark.parametrize("name", WIRES)
def test_audio_goes_where_the_api_takes_it_and_is_else_refused_before_it_is_sent(name, made):
    sound, wire = made("a.mp3", b"ID3"), WIRES[name]

    if name in AUDIO:
        assert json.dumps(AUDIO[name]) in sent(wire, sound)
    else:
        with pytest.raises(ec.ContentError, match=r"audio/mpeg"):
            sent(wire, sound)


def test_video_goes_to_google_and_bedrock(made):
    film = made("a.mp4", b"x")

    assert '"mimeType": "video/mp4"' in sent(WIRES["gemini"], film)
    assert '"video": {"format": "mp4", "source": {"bytes": "eA=="}}' in sent(WIRES["bedrock"], film)
    with pytest.raises(ec.ContentError, match="video/mp4"):
        sent(WIRES["openai-responses"], film)


def test_audio_in_an_answer_is_content_and_goes_back_in_words():
    wav = b64encode(b"RIFF1234WAVEfmt ").decode()
    answer = {"content": None, "audio": {"id": "a", "data": wav, "transcript": "Meow."}}
    turn = WIRES["openai-chat"].turn({"choices": [{"message": answer, "finish_reason": "stop"}]})
    assert turn.contents == (ContentText("Meow."), ContentFile("audio/wav", wav, "answer"))

    part = {"inlineData": {"mimeType": "audio/L16;rate=24000", "data": "AAAA"}}
    spoken = WIRES["gemini"].turn({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]})
    assert spoken.contents == (ContentFile("audio/L16;rate=24000", "AAAA", "answer.L16"),)

    for wire in WIRES.values():
        for said in (turn, spoken):
            body = json.dumps(wire.request([UserTurn("Hi"), said, UserTurn("More")]).json)
            assert wav not in body


def test_files_are_shown(made):
    sound, notes = made("a.mp3", b"ID3"), made("<b>.txt", b"Hi")

    assert str(sound) == "[file]: a.mp3 (audio/mpeg)"
    assert ec.contents_markdown(sound) == "`[file: a.mp3]`"
    assert ec.contents_html(sound).startswith('<audio controls src="data:audio/mpeg;base64,SUQz"')
    assert "<b>" not in ec.contents_html(notes)
    replayed = ec.contents_replay(json.loads(json.dumps(ec.contents_record(AssistantTurn([notes])))))
    assert replayed.contents[0] == notes
    assert b64decode(replayed.contents[0].data) == b"Hi"
