"""What the model says about an image and a document."""

import tracemalloc
import zlib
from io import BytesIO

import pytest
from PIL import Image

from ellmer_conformance.contract.observed.exchange import Media
from ellmer_conformance.server.model import media_description
from ellmer_conformance.server.model.media_description import COLOURS, colour_of, described, document_words


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
