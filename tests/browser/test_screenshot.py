"""The cookbook's tool that looks at a website, with a real browser."""

import os
import re
import shutil
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from ellmer_core import ContentImageInline
from ellmer_core.testing import run_tool

COOKBOOK = (Path(__file__).parents[2] / "docs" / "chat" / "cookbook.md").read_text("utf-8")
RECIPE = next(
    block
    for block in re.findall(r"```python\n(.*?)```", COOKBOOK, re.DOTALL)
    if "def screenshot_website" in block
)


@pytest.fixture
def screenshot_website(tmp_path, monkeypatch):
    """The recipe's tool. The tests may run as root, where the browser has no sandbox."""
    real = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    wrapper = tmp_path / "chromium"
    wrapper.write_text(f'#!/bin/sh\nexec "{real}" --no-sandbox --disable-gpu "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(wrapper))
    names = {}
    exec(RECIPE.partition("\nchat = ")[0], names)
    return names["screenshot_website"]


def test_the_model_sees_the_page(screenshot_website, files_served, tmp_path):
    (tmp_path / "index.html").write_text("<body style='background: rgb(200, 20, 20)'></body>")
    result = run_tool(screenshot_website, {"url": files_served(tmp_path), "width": 300, "height": 200})
    assert isinstance(result.value, ContentImageInline), result.error
    picture = Image.open(BytesIO(b64decode(result.value.data))).convert("RGB")
    assert picture.size == (300, 200)
    assert picture.getpixel((150, 100)) == (200, 20, 20)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "--version", "javascript:alert(1)"])
def test_no_file_of_ones_own_is_shown(screenshot_website, url):
    assert "must begin with https" in str(run_tool(screenshot_website, {"url": url}).error)
