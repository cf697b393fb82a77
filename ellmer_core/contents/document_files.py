"""Files of any kind as content: images, PDFs, documents with text in them, audio and video.

If the bytes do not show the type, the file's name decides. The bytes decide whether a file is text. The text of Word documents and workbooks is read with
python-docx and openpyxl (the extra `documents`), for APIs that do not accept the file itself.
"""

from __future__ import annotations

import mimetypes
from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .content import ContentFile, ContentImageInline, ContentPDF
from .images_and_pdfs import content_image_file, content_pdf_file, read_file
from .media_type_detection import sniffed, sniffed_audio
from .text_decoding import decoded, decoded_as_windows, is_utf8

__all__ = ["content_file"]

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
        content_type: Media type, where neither the bytes nor the file name tell it; `None` (default) finds it out.

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
    if not (data := read_file(path)):
        raise UsageError(f"{path} is empty.")
    match sniffed(data) if content_type is None else content_type:
        case "application/pdf":
            return content_pdf_file(path)
        case str(type) if type.startswith("image/"):
            return content_image_file(path, resize="none")
    type = content_type or _type_of(Path(path), data)
    text = _text_of(type, data, str(path))
    if type.startswith("text/") and not is_utf8(data):
        data = text.encode()
    return ContentFile(type, b64encode(data).decode("ascii"), Path(path).name, text)


def _type_of(path: Path, data: bytes) -> str:
    named = NAMED.get(path.suffix.lower()) or mimetypes.guess_type(path.name, strict=False)[0]
    if named:
        return named
    return sniffed_audio(data) or ("application/octet-stream" if decoded(data) is None else "text/plain")


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
        raise UsageError(f"{source} holds more than {MOST:,} characters.")
    return "\n".join(text)


def _rows(book: Any) -> Iterator[str]:
    for sheet in book.worksheets:
        yield f"# {sheet.title}"
        for row in sheet.iter_rows(values_only=True):
            cells = ["" if cell is None else str(cell) for cell in row]
            if any(cells):
                yield "\t".join(cells).rstrip()
