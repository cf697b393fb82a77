"""The pictures of docs/chat/ui.md exist and are small."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "chat" / "ui.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("picture", re.findall(r"\]\(images/(.*?)\)", PAGE))
def test_the_pictures_are_there_and_small(picture):
    assert (DOCS / "images" / picture).stat().st_size < 150_000
