"""Makes images smaller before they are sent, with Pillow."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["resized"]


def resized(data: bytes, resize: str, source: str) -> bytes:
    """Returns the image in its own format and in the size for `resize`, or unchanged if it has that size."""
    try:
        from PIL import Image, ImageOps  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            'Resizing images needs Pillow: pip install "ellmer-core[images]". Or send the file as it is: '
            'resize="none".'
        ) from error
    try:
        with Image.open(BytesIO(data)) as image:
            upright = ImageOps.exif_transpose(image)
            size = _size(upright.size, resize)
            return data if size == upright.size else _encoded(upright, size, image.format)
    except (
        OSError,
        ValueError,
        SyntaxError,
        OverflowError,
        MemoryError,
        Image.DecompressionBombError,
    ) as error:
        raise UsageError(f"{source} cannot be read as an image: {error}") from error


def _encoded(image: Image, size: tuple[int, int], format: str | None) -> bytes:
    out = BytesIO()
    smooth = image.convert("RGBA") if image.mode == "P" else image  # a palette has no colours in between
    smooth.resize(size).save(out, format, icc_profile=image.info.get("icc_profile"))
    return out.getvalue()


def _size(size: tuple[int, int], resize: str) -> tuple[int, int]:
    """Returns the new size in pixels for an image of `size`."""
    width, height = size
    geometry = {"low": "512x512>", "high": "2000x768>" if width > height else "768x2000>"}.get(resize, resize)
    match = re.fullmatch(r"(?=x?[1-9])([1-9]\d{0,3})?(?:x([1-9]\d{0,3}))?([>!]?)", geometry)
    if not match:
        raise UsageError(
            f'resize= must be "low", "high", "none" or a geometry like "200x100>", not {resize!r}.'
        )
    wide, high = (int(side) if side else None for side in match.groups()[:2])
    if match[3] == "!":
        return wide or width, high or height
    scale = min(wide / width if wide else float("inf"), high / height if high else float("inf"))
    if match[3] == ">":
        scale = min(scale, 1)
    return max(1, round(width * scale)), max(1, round(height * scale))
