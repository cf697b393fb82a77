"""What the model says about an image and a document."""

from io import BytesIO

import pytest
from PIL import Image

from ellmer_conformance.contract.exchange import Media
from ellmer_conformance.server.model.media_description import COLOURS, colour_of, described


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
