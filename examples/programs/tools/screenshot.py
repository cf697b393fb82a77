"""A tool that takes a screenshot with a browser, and a model that looks at it. A person, here a function, approves each address.

It needs chromium. It prints:

    asked: http://127.0.0.1:…/
    It is … image of 640 by 400 pixels.
    the picture: image/png
    another address: Tool call denied. …
"""

import os
import shutil
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from ellmer_core import ContentImageInline, ContentToolRequest, chat_openai, content_image_file, tool
from ellmer_core.testing import tool_results

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or "google-chrome"
MINE = "http://127.0.0.1:"


@tool(needs_approval=True)
def screenshot_website(url: str) -> ContentImageInline:
    """Takes a screenshot of a website.

    Args:
        url: Address of the page.
    """
    if not url.startswith(("https://", "http://")):
        raise ValueError("The address must begin with https://.")
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "page.png"
        command = [BROWSER, "--headless", "--no-sandbox", f"--user-data-dir={folder}"]
        command += [f"--screenshot={picture}", "--window-size=640,400", url]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        return content_image_file(picture, resize="none")


def approve(request: ContentToolRequest) -> bool:
    url = str(request.arguments["url"])
    if url.startswith(MINE):
        print("asked:", url)
    return url.startswith(MINE)


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<body style='background: red'><h1>Hello</h1></body>")

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    site = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()

    chat = chat_openai(model="gpt-5.6-terra", approve=approve)
    chat.register_tool(screenshot_website)
    print(chat.chat(f"What is at {MINE}{site.server_port}/ ?"))
    print("the picture:", tool_results(chat)[0].value.type)
    print("another address:", chat.chat("What is at http://169.254.169.254/ ?"))
    site.shutdown()


if __name__ == "__main__":
    main()
