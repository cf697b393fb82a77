"""Images, PDFs and files of any kind from files, URLs and figures, as content that can be sent.

Bytes are sent as standard base64, padded, without line breaks. The media type comes from the bytes, not from the
file's name, and a type that the caller gives must match them. If the bytes do not show the type, the file's name
decides. Pillow (the extra `images`), python-docx and openpyxl (the extra `documents`) are imported when first needed.
"""

from __future__ import annotations

import mimetypes
import re
import sys
from base64 import b64decode, b64encode
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..base.budget import DOWNLOAD
from ..base.regular_files import opened
from ..errors import UsageError
from .content import ContentFile, ContentImageInline, ContentImageRemote, ContentPDF
from .downloads import download, url_parts
from .media_bytes import AUDIO, SIGNATURES, sniffed

if TYPE_CHECKING:
    import httpx
    from PIL.Image import Image

__all__ = [
    "content_file", "content_image_file", "content_image_plot", "content_image_url", "content_pdf_file",
    "content_pdf_url",
]  # fmt: skip


# --- images and PDFs -------------------------------------------------------------------------------------


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
    if url[:5].lower() == "data:":
        type, data = _data_url(f"data:{url[5:]}")
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
        UsageError: The value is not a figure, or there is no current one.

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
        with opened(path) as file:
            data = file.read(DOWNLOAD.received + 1)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path!s:.200} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error
    if len(data) > DOWNLOAD.received:
        raise UsageError(
            f"{path} is larger than {DOWNLOAD.received:,} bytes, the limit. Send a part of it, or use chat.upload()."
        )
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


# --- resizing --------------------------------------------------------------------------------------------


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


# --- text ---------------------------------------------------------------------------------------------


_CONTROLS = re.compile("[\\x00-\\x08\\x0e-\\x1a\\x1c-\\x1f]")


def decoded(data: bytes) -> str | None:
    """Returns text in UTF-8, or in UTF-16 with a byte order mark."""
    return _text(data, "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")


def decoded_as_windows(data: bytes) -> str | None:
    """Returns text in Windows-1252, which browsers also assume for text that is not UTF-8."""
    return _text(data, "cp1252")


def is_utf8(data: bytes) -> bool:
    """Tells whether the bytes are text in UTF-8."""
    return _text(data, "utf-8") is not None


def _text(data: bytes, encoding: str) -> str | None:
    """Returns the text, or `None` if it is empty or has control characters."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if not text or _CONTROLS.search(text) else text


# --- documents -------------------------------------------------------------------------------------------


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
NAMED = {
    ".docx": DOCX, ".xlsx": XLSX, ".md": "text/markdown", ".csv": "text/csv", ".m4a": "audio/mp4", ".wav": "audio/wav",
    ".flac": "audio/flac", ".webm": "video/webm", ".mkv": "video/x-matroska", ".ts": "text/x-typescript",
}  # fmt: skip
EXTRA = 'Reading {} needs the extra documents: pip install "ellmer-core[documents]".'
MOST = 5_000_000  # characters of a workbook: a small file can hold many more


def content_file(
    path: str | Path, content_type: str | None = None
) -> ContentFile | ContentImageInline | ContentPDF:
    r"""Reads a file, to be sent with a prompt.

    An image becomes a `ContentImageInline` (not resized), a PDF a `ContentPDF`, anything else a `ContentFile`. APIs
    accept different files: where one does not accept a document, its text is sent. Audio and video that the API
    does not accept raise `ContentError` before anything is sent. Text in UTF-16, or in Windows-1252, is sent as UTF-8.

    Args:
        path: Path of the file.
        content_type: Media type, if neither the bytes nor the file name show it; `None` (default) detects it.

    Returns:
        The content.

    Raises:
        UsageError: The file cannot be read, is empty, or is not text although its name says so.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("sales.csv").write_text("city,sales\nParis,3\n")
        >>> content_file("sales.csv").type
        'text/csv'
    """
    return content_of_bytes(read_file(path), content_type, str(path))


def content_of_bytes(
    data: bytes, content_type: str | None, source: str
) -> ContentFile | ContentImageInline | ContentPDF:
    """Returns the content of a file's bytes, as `content_file()`; `source` is its path or its name."""
    if not data:
        raise UsageError(f"{source} is empty. Pass a file with content.")
    name = Path(source).name
    match sniffed(data) if content_type is None else content_type:
        case "application/pdf":
            return _pdf(data, source, name)
        case str(type) if type.startswith("image/"):
            return ContentImageInline(_image_type(data, None, source), _base64(data))
    type = content_type or _type_of(Path(source), data)
    text = _text_of(type, data, source)
    if type.startswith("text/") and not is_utf8(data):
        data = text.encode()
    return ContentFile(type, _base64(data), name, text)


def _type_of(path: Path, data: bytes) -> str:
    named = NAMED.get(path.suffix.lower()) or mimetypes.guess_type(path.name, strict=False)[0]
    if named:
        return named
    return sniffed(data, AUDIO) or ("application/octet-stream" if decoded(data) is None else "text/plain")


def _text_of(type: str, data: bytes, source: str) -> str:
    """Returns the text of a document. It is empty if the file is not a document that can be read here."""
    if type == DOCX:
        return _of_word(data, source)
    if type == XLSX:
        return _of_workbook(data, source)
    if type.startswith(("audio/", "video/")):
        return ""
    text = decoded(data)
    if text is None and type.startswith("text/"):
        text = decoded_as_windows(data)
        if text is None:
            raise UsageError(
                f"{source} is not text, although its type is {type}. Pass its type as content_type=."
            )
    return text or ""


def _of_word(data: bytes, source: str) -> str:
    """Returns the paragraphs and the cells of tables, in order."""
    try:
        import docx  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(EXTRA.format(source)) from error
    try:
        return "\n".join(_lines(docx.Document(BytesIO(data))))
    except Exception as error:
        raise UsageError(f"{source} cannot be read as a Word document: {error}") from error


def _lines(document: Any) -> Iterator[str]:
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            yield from ("\t".join(cell.text for cell in row.cells) for row in block.rows)
        else:
            yield block.text


def _of_workbook(data: bytes, source: str) -> str:
    """Returns each sheet under its name, with a line for each row and tabs between the cells."""
    try:
        import openpyxl  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(EXTRA.format(source)) from error
    try:
        book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
        text, size = [], 0
        for line in _rows(book):
            text.append(line)
            size += len(line)
            if size > MOST:
                break
    except Exception as error:
        raise UsageError(f"{source} cannot be read as a workbook: {error}") from error
    if size > MOST:
        raise UsageError(f"{source} has more than {MOST:,} characters, the limit. Send a part of it.")
    return "\n".join(text)


def _rows(book: Any) -> Iterator[str]:
    for sheet in book.worksheets:
        yield f"# {sheet.title}"
        for row in sheet.iter_rows(values_only=True):
            cells = ["" if cell is None else str(cell) for cell in row]
            if any(cells):
                yield "\t".join(cells).rstrip()
