"""Images and PDFs: the bytes that are sent, their real type, and addresses that are refused."""

import re
import socket
import sys
from base64 import b64decode, b64encode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from threading import Thread

import httpx
import pytest
from PIL import Image

from ellmer_core.base.budget import Budget
from ellmer_core.contents.content import ContentImageInline, ContentImageRemote, ContentPDF, replaced
from ellmer_core.contents.files import (
    content_image_file,
    content_image_plot,
    content_image_url,
    content_pdf_file,
    content_pdf_url,
)
from ellmer_core.errors import ConnectError, UsageError

PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" + b"x" * 100


def image_bytes(format="PNG", size=(600, 300), mode="RGB", **options):
    out = BytesIO()
    Image.new(mode, size, 1).save(out, format, **options)
    return out.getvalue()


PNG_DATA = b64encode(image_bytes(size=(9, 9))).decode()


def image_file(tmp_path, name="cat.png", **options):
    path = tmp_path / name
    path.write_bytes(image_bytes(**options))
    return path


def opened(content):
    return Image.open(BytesIO(b64decode(content.data, validate=True)))


# images -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("PNG", {}),
        ("GIF", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True, "comment": b"x" * 500}),
        ("WEBP", {}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0II*\0"}),
    ],
)
def test_the_size_of_an_image(format, options):
    data = b64encode(image_bytes(format, **options)).decode()

    assert ContentImageInline(f"image/{format.lower()}", data).size == (600, 300)


def test_an_image_whose_bytes_do_not_tell_its_size():
    assert ContentImageInline("image/tiff", "SUkqAA==").size is None
    assert ContentImageInline("image/jpeg", b64encode(b"\xff\xd8\xff\xe0").decode()).size is None
    assert ContentImageInline("image/png", "no base64!").size is None


def test_the_fault_and_the_size_of_an_image_follow_its_data():
    image = ContentImageInline("image/png", b64encode(image_bytes("PNG")).decode())

    assert (image.fault, image.size) == ("", (600, 300))
    assert replaced(image, type="image/jpeg").fault == "its bytes are image/png, not image/jpeg"
    assert replaced(image, data="").size is None


@pytest.mark.parametrize("format", ["PNG", "WEBP"])
def test_a_picture_whose_download_broke_off_is_found(format):
    whole = image_bytes(format)
    cut = [
        ContentImageInline(f"image/{format.lower()}", b64encode(whole[:-size]).decode()) for size in (1, 20)
    ]

    assert [image.fault for image in cut] == ["its file is cut off"] * 2
    assert ContentImageInline(f"image/{format.lower()}", b64encode(whole + b"more").decode()).fault == ""


def test_a_picture_whose_pixels_are_damaged_is_found():
    whole = image_bytes("PNG")
    at = whole.index(b"IDAT") + 4
    damaged = b64encode(whole[:at] + bytes(8) + whole[at + 8 :]).decode()

    assert ContentImageInline("image/png", damaged).fault == "its pixels cannot be unpacked"


def test_the_size_of_a_photo_behind_long_metadata():
    data = b64encode(image_bytes("JPEG", exif=b"Exif" + bytes(60_000))).decode()

    assert ContentImageInline("image/jpeg", data).size == (600, 300)


def test_the_scheme_of_an_address_has_no_capitals():
    """OpenAI refuses "HTTPS://…" as an image that cannot be downloaded."""
    assert content_image_url("HTTPS://Example.com/A.png").url == "https://Example.com/A.png"
    assert ContentImageRemote("HttpS://Example.com/A.png") == ContentImageRemote("https://Example.com/A.png")
    assert content_image_url("DATA:image/png;base64," + PNG_DATA).type == "image/png"


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("data:image/png;base64," + PNG_DATA, ""),
        ("DATA:image/png;base64," + PNG_DATA, ""),
        ("data:image/jpeg;base64," + PNG_DATA, "its bytes are image/png, not image/jpeg"),
        ("data:image/png;base64,", "its data is empty"),
        ("data:image/svg+xml;base64,PHN2Zy8+", "its bytes are 'image/svg+xml', not one of image/png"),
        ("data:image/svg+xml,<svg/>", "is not data:image/…;base64,…"),
        ("https://example.com/a b\n.png", "is not the address of an image on the web"),
        ("ftp://example.com/a.png", "is not the address of an image on the web"),
    ],
)
def test_what_is_wrong_with_an_address(url, fault):
    found = ContentImageRemote(url).fault
    assert found == "" if not fault else fault in found


def test_a_media_type_has_no_capitals():
    assert ContentImageInline("IMAGE/PNG", "").type == "image/png"
    assert not ContentPDF("Application/PDF", b64encode(PDF).decode()).fault


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_file_is_sent_as_it_is(tmp_path, format):
    path = image_file(tmp_path, "no-extension", format=format)

    content = content_image_file(path, resize="none")

    assert content == ContentImageInline(f"image/{format.lower()}", b64encode(path.read_bytes()).decode())
    assert content_image_file(str(path), f"image/{format.lower()}", resize="none") == content
    assert "\n" not in content.data


@pytest.mark.parametrize(
    ("size", "resize", "expected"),
    [
        ((600, 300), "low", (512, 256)),
        ((300, 600), "low", (256, 512)),
        ((100, 100), "low", (100, 100)),
        ((4000, 1000), "high", (2000, 500)),
        ((1000, 4000), "high", (500, 2000)),
        ((1000, 1000), "high", (768, 768)),
        ((600, 300), "200x200", (200, 100)),
        ((60, 30), "200x200", (200, 100)),
        ((60, 30), "200x200>", (60, 30)),
        ((600, 300), "200x200!", (200, 200)),
        ((600, 300), "300", (300, 150)),
        ((600, 300), "x100", (200, 100)),
        ((600, 300), "x100!", (600, 100)),
        ((600, 1), "60", (60, 1)),
    ],
)
@pytest.mark.parametrize("kind", ["PNG RGBA", "JPEG L", "GIF P", "PNG P"])
def test_resizing(tmp_path, size, resize, expected, kind):
    format, mode = kind.split()
    path = image_file(tmp_path, format=format, size=size, mode=mode)

    content = content_image_file(path, resize=resize)

    assert opened(content).size == expected
    assert content.type == f"image/{format.lower()}"
    if size == expected:
        assert b64decode(content.data) == path.read_bytes()


def test_a_photo_taken_sideways_is_put_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    path = image_file(tmp_path, format="JPEG", size=(800, 400), exif=exif)

    turned = opened(content_image_file(path))

    assert turned.size == (256, 512)
    assert 0x0112 not in turned.getexif()


@pytest.mark.parametrize("resize", ["", "big", "0x10", "x", "10x", "10%", "-5", "200x200^", "1e3"])
def test_a_geometry_that_is_none(tmp_path, resize):
    with pytest.raises(UsageError, match=re.escape(repr(resize))):
        content_image_file(image_file(tmp_path), resize=resize)


def test_the_type_must_be_true(tmp_path):
    path = image_file(tmp_path, "cat.jpg", format="PNG")

    assert content_image_file(path, resize="none").type == "image/png"
    with pytest.raises(UsageError, match=r"cat\.jpg is image/png, not image/jpeg"):
        content_image_file(path, "image/jpeg")
    path.write_text("<html>")
    with pytest.raises(UsageError, match=r"not a PNG, JPEG, GIF or WebP image \(it starts with b'<html>'\)"):
        content_image_file(path)
    path.write_bytes(PDF)
    with pytest.raises(UsageError, match="not a PNG"):
        content_image_file(path)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        content_image_file(tmp_path / "missing.png")
    assert content_image_file(path, "image/heic", resize="none").type == "image/heic"


def test_a_damaged_image_is_a_clear_error(tmp_path):
    path = image_file(tmp_path)
    path.write_bytes(path.read_bytes()[:60])

    with pytest.raises(UsageError, match=r"cat\.png cannot be read as an image"):
        content_image_file(path)


def test_without_pillow_the_error_names_the_extra(tmp_path, monkeypatch):
    path = image_file(tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)

    with pytest.raises(UsageError, match=re.escape('pip install "ellmer-core[images]"')):
        content_image_file(path)
    assert content_image_file(path, resize="none").type == "image/png"


def test_urls():
    assert content_image_url("https://example.com/a.png") == ContentImageRemote(
        "https://example.com/a.png", "auto"
    )
    assert content_image_url("http://example.com/a", detail="low").detail == "low"


def test_a_data_url_is_an_image_sent_along():
    data = b64encode(image_bytes()).decode()
    sent = ContentImageInline("image/png", data)

    assert content_image_url(f"data:image/png;base64,{data}") == sent
    assert content_image_url(f"data:image/png;base64,{data}".replace("+", "%2B").replace("=", "%3D")) == sent


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("cat.png", "content_image_file()"),
        ("file:///etc/passwd", "must start with https:"),
        ("https://", "must start with https:"),
        ("data:image/png,abc", "A data: URL has the form"),
        ("data:image/png;base64,", "A data: URL has the form"),
        ("data:image/png;base64,a-b_", "A data: URL has the form"),
        ("data:image/jpeg;base64,iVBORw0KGgo=", "image/png, not image/jpeg"),
        ("data:text/plain;base64,aGVsbG8=", "not a PNG"),
    ],
)
def test_urls_that_are_none(url, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        content_image_url(url)


def test_detail_is_one_of_three():
    with pytest.raises(UsageError, match="'huge'"):
        content_image_url("https://example.com/a.png", detail="huge")


class Figure:
    """The relevant part of matplotlib's figure."""

    def __init__(self):
        self.size = [6.4, 4.8]

    def get_size_inches(self):
        return self.size.copy() if isinstance(self.size, list) else self.size

    def set_size_inches(self, *size):
        self.size = list(size[0]) if len(size) == 1 else list(size)

    def savefig(self, out, format, dpi):
        Image.new("RGB", tuple(round(side * dpi) for side in self.size)).save(out, format)


def test_a_figure_becomes_a_png_of_the_size_asked_for_and_keeps_its_own():
    figure = Figure()

    assert opened(content_image_plot(figure)).size == (768, 768)
    assert opened(content_image_plot(figure, width=300, height=200)).size == (300, 200)
    assert figure.size == [6.4, 4.8]


def test_what_is_no_figure():
    with pytest.raises(UsageError, match="must be a matplotlib figure"):
        content_image_plot("plot.png")


def test_the_current_figure(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(UsageError, match="no current matplotlib figure"):
        content_image_plot()


def test_a_real_figure():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.close("all")
    with pytest.raises(UsageError, match="no current matplotlib figure"):
        content_image_plot()
    figure, _ = plt.subplots()

    assert opened(content_image_plot(width=300, height=200)).size == (300, 200)
    assert content_image_plot(figure) == content_image_plot()
    assert tuple(figure.get_size_inches()) == (6.4, 4.8)
    plt.close("all")


# PDFs -------------------------------------------------------------------------------------------------------


def test_a_pdf_file(tmp_path):
    path = tmp_path / "Größe.pdf"
    path.write_bytes(b"\n" * 10 + PDF)

    assert content_pdf_file(path) == ContentPDF(
        "application/pdf", b64encode(b"\n" * 10 + PDF).decode(), "Größe.pdf"
    )
    path.write_text("not one")
    with pytest.raises(UsageError, match=r"Größe\.pdf is not a PDF \(it starts with b'not one'\)"):
        content_pdf_file(path)


def test_a_pdf_in_a_data_url():
    data = b64encode(PDF).decode()

    assert content_pdf_url(f"data:application/pdf;base64,{data}") == ContentPDF("application/pdf", data)
    with pytest.raises(UsageError, match="the data: URL is not a PDF"):
        content_pdf_url("data:application/pdf;base64,aGVsbG8=")


def web(pages):
    """Returns a client for these pages: URL to status, body or location."""

    def answer(request):
        page = pages[str(request.url)]
        if isinstance(page, str):
            return httpx.Response(302, headers={"location": page})
        return httpx.Response(200, content=page) if isinstance(page, bytes) else httpx.Response(page)

    return httpx.Client(transport=httpx.MockTransport(answer))


def test_a_pdf_is_downloaded_with_the_client_given():
    with web({"https://example.com/papers/A%20b.PDF?x=1": PDF, "https://example.com/get": PDF}) as client:
        assert (
            content_pdf_url("https://example.com/papers/A%20b.PDF?x=1", client=client).filename == "A b.PDF"
        )
        assert content_pdf_url("https://example.com/get", client=client).filename == "document.pdf"
        assert not client.is_closed


def test_redirects_are_followed_and_each_address_is_looked_at():
    pages = {
        "https://example.com/a": "/b",
        "https://example.com/b": PDF,
        "https://example.com/evil": "http://169.254.169.254/latest/meta-data",
        "https://example.com/round": "/round",
    }
    with web(pages) as client:
        assert content_pdf_url("https://example.com/a", client=client).data == b64encode(PDF).decode()
        with pytest.raises(UsageError, match="inside a private network"):
            content_pdf_url("https://example.com/evil", client=client)
        with pytest.raises(UsageError, match="redirected more than 5 times"):
            content_pdf_url("https://example.com/round", client=client)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "[::1]", "[fc00::1]",
     "[::ffff:127.0.0.1]", "127.1", "0x7f000001", "2130706433", "localhost"],
)  # fmt: skip
def test_private_addresses_are_refused_however_they_are_written(host):
    for client in (None, web({})):
        with pytest.raises(UsageError, match="inside a private network"):
            content_pdf_url(f"http://{host}/x.pdf", client=client)


def test_a_name_is_resolved_before_it_is_fetched(monkeypatch):
    def resolve(host, port):
        if host == "nowhere.example":
            raise socket.gaierror(-2, "Name or service not known")
        return [
            (socket.AF_INET, None, None, "", ("93.184.216.34", 0)),
            (None, None, None, "", ("10.0.0.7", 0)),
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    with pytest.raises(UsageError, match="inside a private network"):
        content_pdf_url("https://both.example/x.pdf")
    with pytest.raises(ConnectError, match=r"nowhere\.example cannot be found: Name or service not known"):
        content_pdf_url("https://nowhere.example/x.pdf")


@pytest.mark.parametrize("url", ["ftp://example.com/x.pdf", "file:///etc/passwd", "x.pdf", "https://"])
def test_only_the_web_is_fetched(url):
    for allow_private in (True, False):
        with pytest.raises(UsageError, match="must start with https:"):
            content_pdf_url(url, allow_private=allow_private)


def test_a_page_that_is_not_there_or_not_a_pdf_or_too_large(monkeypatch):
    monkeypatch.setattr("ellmer_core.contents.downloads.DOWNLOAD", Budget(unpacked=50, seconds=60))
    pages = {"https://e.com/404": 404, "https://e.com/html": b"<html>", "https://e.com/large": PDF}
    with web(pages) as client:
        with pytest.raises(UsageError, match=r"https://e\.com/404 answered 404 Not Found"):
            content_pdf_url("https://e.com/404", client=client)
        with pytest.raises(UsageError, match=r"https://e\.com/html is not a PDF"):
            content_pdf_url("https://e.com/html", client=client)
        with pytest.raises(UsageError, match="larger than 50 bytes"):
            content_pdf_url("https://e.com/large", client=client)


@contextmanager
def served(body):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_over_a_real_socket():
    with served(PDF) as port:
        pdf = content_pdf_url(f"http://127.0.0.1:{port}/x.pdf", allow_private=True)
    assert (pdf.filename, pdf.data) == ("x.pdf", b64encode(PDF).decode())
    with pytest.raises(ConnectError, match=f"http://127.0.0.1:{port}/x.pdf could not be downloaded"):
        content_pdf_url(f"http://127.0.0.1:{port}/x.pdf", allow_private=True)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br"])
def test_an_encoding_that_was_not_requested_is_not_opened(encoding):
    asked = []

    def answer(request):
        asked.append(request.headers["accept-encoding"])
        return httpx.Response(200, headers={"content-encoding": encoding}, stream=httpx.ByteStream(PDF))

    with (
        httpx.Client(transport=httpx.MockTransport(answer)) as client,
        pytest.raises(UsageError, match="which was not requested"),
    ):
        content_pdf_url("https://e.com/a.pdf", client=client)
    assert asked == ["gzip, deflate"]
