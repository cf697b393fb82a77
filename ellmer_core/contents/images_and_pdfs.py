"""Images and PDFs from files, URLs and figures, as content that can be sent.

Bytes are sent as standard base64, padded, without line breaks. The media type comes from the bytes, not from the
file's name, and a type that the caller gives must match them. Pillow (the extra `images`) is imported when it is
first needed.
"""

from __future__ import annotations

import os
import re
import sys
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..errors import UsageError
from .content import ContentImageInline, ContentImageRemote, ContentPDF
from .downloads import MAX_BYTES, download, url_parts
from .image_resizing import resized
from .media_type_detection import SIGNATURES, sniffed

if TYPE_CHECKING:
    import httpx

__all__ = [
    "content_image_file",
    "content_image_plot",
    "content_image_url",
    "content_pdf_file",
    "content_pdf_url",
    "read_file",
]

READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe is not waited for


# images -----------------------------------------------------------------------------------------------------


def content_image_url(url: str, detail: str = "auto") -> ContentImageRemote | ContentImageInline:
    """Names an image by its address; the provider fetches it.

    Args:
        url: Address of the image. A `data:` URL is an image that is sent with the request.
        detail: How closely the model looks: `"auto"` (default), `"low"` or `"high"`, where the provider has this
            option.

    Returns:
        The image.

    Raises:
        UsageError: The URL is malformed.

    Examples:
        >>> content_image_url("https://example.com/cat.png").url
        'https://example.com/cat.png'
    """
    if detail not in {"auto", "low", "high"}:
        raise UsageError(f'detail= must be "auto", "low" or "high", not {detail!r}.')
    if url.startswith("data:"):
        type, data = _data_url(url)
        return ContentImageInline(_image_type(data, type, "the data: URL"), _base64(data))
    parts = url_parts(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise UsageError(
            f"An image URL must start with https:, http: or data:, not {url[:60]!r}; for a file on disk, "
            "use content_image_file()."
        )
    return ContentImageRemote(url, detail)


def content_image_file(
    path: str | Path, content_type: str = "auto", resize: str = "low"
) -> ContentImageInline:
    """Reads an image file, to be sent with a prompt.

    Args:
        path: Path of the file.
        content_type: Media type; `"auto"` (default) reads it from the bytes.
        resize: `"low"` (default) fits the image into 512 x 512 pixels, `"high"` into 2000 x 768 or 768 x 2000; both
            only make it smaller. `"none"` sends the file unchanged. A geometry in pixels (`"200x100"`, `"200"` for
            the width, `"x100"` for the height) fits the image into it; with `>` at its end it only makes the image
            smaller, with `!` it distorts it. A resized image loses its metadata. Resizing needs Pillow (the extra
            `images`).

    Returns:
        The image.

    Raises:
        UsageError: The file cannot be read, or is not an image.

    Examples:
        >>> content_image_file("red.png", resize="none").type
        'image/png'
    """
    data = read_file(path)
    type = _image_type(data, None if content_type == "auto" else content_type, str(path))
    return ContentImageInline(type, _base64(data if resize == "none" else resized(data, resize, str(path))))


def content_image_plot(figure: Any = None, width: int = 768, height: int = 768) -> ContentImageInline:
    """Renders a matplotlib figure as a PNG, to be sent with a prompt.

    Args:
        figure: The figure; `None` (default) takes the current one.
        width: Width in pixels. Default: 768.
        height: Height in pixels. Default: 768.

    Returns:
        The image.

    Raises:
        ImportError: matplotlib is not installed.

    Examples:
        >>> import matplotlib.figure
        >>> content_image_plot(matplotlib.figure.Figure(), width=100, height=100).type
        'image/png'
    """
    figure = figure if figure is not None else _current_figure()
    if not hasattr(figure, "savefig"):
        raise UsageError(f"figure= must be a matplotlib figure (something with savefig()), not {figure!r}.")
    size, dpi, out = figure.get_size_inches().copy(), 96, BytesIO()
    try:
        figure.set_size_inches(width / dpi, height / dpi)
        figure.savefig(out, format="png", dpi=dpi)
    finally:
        figure.set_size_inches(size)
    return ContentImageInline("image/png", _base64(out.getvalue()))


def fetched_image(url: str) -> ContentImageInline:
    """Returns the image at an `https:` URL, which is downloaded now: from a public address, at most 50 MB, within a
    minute. Raises `UsageError` or `ConnectError`, also for a redirect into a private network.
    """
    data = download(url, None, allow_private=False, schemes=("https",))
    return ContentImageInline(_image_type(data, None, url), _base64(data))


def _current_figure() -> Any:
    pyplot = sys.modules.get("matplotlib.pyplot")  # if it is not imported, there is no plot
    if pyplot is None or not pyplot.get_fignums():
        raise UsageError("There is no current matplotlib figure; draw one, or pass it as figure=.")
    return pyplot.gcf()


def _image_type(data: bytes, claimed: str | None, source: str) -> str:
    actual = sniffed(data)
    if claimed and claimed not in SIGNATURES and claimed.startswith("image/"):
        return claimed  # image/heic, say: no way to tell
    if actual is None or not actual.startswith("image/"):
        raise UsageError(f"{source} is not a PNG, JPEG, GIF or WebP image (it starts with {data[:8]!r}).")
    if claimed not in {None, actual}:
        raise UsageError(f"{source} is {actual}, not {claimed}.")
    return actual


# PDFs -------------------------------------------------------------------------------------------------------


def content_pdf_file(path: str | Path) -> ContentPDF:
    """Reads a PDF file, to be sent with a prompt.

    Args:
        path: Path of the file.

    Returns:
        The PDF.

    Raises:
        UsageError: The file cannot be read, or is not a PDF.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("report.pdf").write_bytes(b"%PDF-1.4")
        >>> content_pdf_file("report.pdf").filename
        'report.pdf'
    """
    return _pdf(read_file(path), str(path), Path(path).name)


def content_pdf_url(
    url: str, *, client: httpx.Client | None = None, allow_private: bool = False
) -> ContentPDF:
    """Downloads a PDF (at most 50 MB), to be sent with a prompt.

    Addresses inside a private network, including this machine's own, are refused, so that a URL from elsewhere cannot
    read what only this machine can reach.

    Args:
        url: Address of the PDF, or a `data:` URL.
        client: Your `httpx.Client`; the library then refuses only private addresses that are written as numbers.
            `None` (default) uses a client of the library's own.
        allow_private: Whether private addresses are allowed. Default: `False`.

    Returns:
        The PDF.

    Raises:
        UsageError: The address is refused, or its content is not a PDF.
        ConnectError: The address could not be reached.

    Examples:
        >>> content_pdf_url("data:application/pdf;base64,JVBERi0xLjQ=").type
        'application/pdf'
    """
    if url.startswith("data:"):
        return _pdf(_data_url(url)[1], "the data: URL", "document.pdf")
    name = PurePosixPath(unquote(url_parts(url).path)).name
    return _pdf(
        download(url, client, allow_private), url, name if name.lower().endswith(".pdf") else "document.pdf"
    )


def _pdf(data: bytes, source: str, filename: str) -> ContentPDF:
    if sniffed(data) != "application/pdf":
        raise UsageError(f"{source} is not a PDF (it starts with {data[:8]!r}).")
    return ContentPDF("application/pdf", _base64(data), filename)


# bytes ------------------------------------------------------------------------------------------------------


def read_file(path: str | Path) -> bytes:
    """Returns the bytes of a file, 50 MB at most."""
    try:
        with os.fdopen(os.open(path, READING), "rb") as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{path} is not a regular file, but a device, a pipe or a folder.")
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path!s:.200} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES:,} bytes.")
    return data


def _data_url(url: str) -> tuple[str, bytes]:
    match = re.fullmatch(r"data:([\w.+-]+/[\w.+-]+);base64,(.+)", url, re.DOTALL)
    try:
        if match:
            return match[1], b64decode(unquote(match[2]), validate=True)
    except ValueError:
        pass
    raise UsageError(f"A data: URL has the form data:TYPE;base64,DATA, not {url[:60]!r}.")


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")
