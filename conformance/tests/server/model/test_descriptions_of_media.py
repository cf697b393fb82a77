"""What the model says about an image and a document."""

import tracemalloc
import zlib
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from PIL import Image

from ellmer_conformance.contract.observed.exchange import Media
from ellmer_conformance.server.model import media_description
from ellmer_conformance.server.model.media_description import (
    COLOURS,
    colour_of,
    described,
    document_words,
    office_words,
)


@pytest.mark.parametrize("name", COLOURS)
def test_an_image_of_one_colour_is_called_by_it(name):
    written = BytesIO()
    Image.new("RGB", (8, 6), COLOURS[name]).save(written, "PNG")
    image = Media("image/png", written.getvalue())

    assert all(0 <= part <= 255 for part in COLOURS[name])
    assert colour_of(image) == name
    assert described(image) == f"{'an' if name == 'orange' else 'a'} {name} image of 8 by 6 pixels"


def test_what_cannot_be_read_is_described_by_its_size():
    assert described(Media("image/png", b"no image")) == "an image that cannot be read, of 8 bytes"
    assert described(Media("audio/wav", b"12")) == "an audio file of 2 bytes"
    assert described(Media("text/plain", b"one two")) == "a file of 2 words: “one two”"


def office(**parts):
    written = BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/") + ".xml", content)
    return Media("application/zip", written.getvalue())


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            office(
                word__document="<w:p><w:r><w:t>Salt &amp;</w:t></w:r><w:t xml:space='preserve'> pepper</w:t></w:p>"
            ),
            "3 words: “Salt & pepper”",
        ),
        (
            office(
                xl__sharedStrings="<si><t>Oslo</t></si>",
                xl__worksheets__sheet1='<c r="A1" t="s"><v>0</v></c><c r="B1"><v>21</v></c>',
            ),
            "2 words: “Oslo 21”",
        ),
        (office(ppt__slides__slide1="<a:t>Plan</a:t>"), "1 word: “Plan”"),
    ],
)
def test_a_document_of_office_is_described_by_its_words(document, said):
    assert described(document) == f"a document of {said}"


def test_bytes_that_are_no_text_are_described_by_their_size():
    assert described(Media("application/zip", b"PK\x03\x04 no archive")) == "a file of 15 bytes"
    assert described(office(other="<w:t>unseen</w:t>")).endswith("bytes")
    assert described(Media("application/octet-stream", b"\0\1\2")) == "a file of 3 bytes"


def test_a_bomb_in_a_document_of_office_is_read_so_far_and_no_further():
    document = office(**{f"ppt__slides__slide{n}": "<a:t>a b</a:t>" * 1_000_000 for n in range(3)})

    tracemalloc.start()
    assert len(office_words(document.data)) == 20_000
    assert tracemalloc.get_traced_memory()[1] < 60_000_000
    tracemalloc.stop()


def bomb(streams, words=300_000):
    """Returns a PDF whose streams become a thousand times as large."""
    packed = zlib.compress(b"(abc)Tj " * words, 9)
    return b"%PDF-1.4\n" + (b"stream\n" + packed + b"\nendstream\n") * streams


def test_a_document_of_bombs_is_read_so_far_and_no_further():
    document = Media(
        "application/pdf", bomb(12)
    )  # some 24 KB; unpacked, 22 MB, and twelve times as much as words

    tracemalloc.start()
    told = described(document)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert told.startswith("a PDF of 1 page and 20,000 words")
    assert kept < 2_000_000
    assert peak < 80_000_000


def test_streams_without_an_end_are_looked_for_once(monkeypatch):
    tried = []
    monkeypatch.setattr(media_description, "_inflated", lambda data: tried.append(data) or b"")
    assert document_words(b"%PDF-1.4\n" + b"stream\n" * 200_000) == []
    assert tried == []


def test_large_media_are_not_kept():
    tracemalloc.start()
    for at in range(20):
        described(Media("image/png", bytes([at]) * 2_000_000))
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept < 4_000_000
