"""A package index with one archive of recordings, served by this process."""

import io
import json
import tarfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

TOP = "stories-1.0"
BODY = json.dumps({"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]})
CASSETTE = f"""\
interactions:
- request:
    body: '{BODY}'
    headers: {{}}
    method: POST
    uri: https://api.openai.com/v1/chat/completions
  response:
    body: {{string: '{{"choices": []}}'}}
    headers: {{Date: ['Mon, 27 Nov 2023 16:48:19 GMT']}}
    status: {{code: 200, message: OK}}
version: 1
"""
GOOD = {
    f"{TOP}/PKG-INFO": "Metadata-Version: 2.4\nName: stories\nLicense-Expression: MIT\n",
    f"{TOP}/setup.py": "raise SystemExit('this must never run')",
    f"{TOP}/tests/cassettes/hello.yaml": CASSETTE,
    f"{TOP}/tests/cassettes/readme.md": "no recording",
    f"{TOP}/tests/data.json": "{}",
}


def packed(members, *, links=()):
    """Returns a `.tar.gz` of texts; links are (name, type, target)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
        for name, kind, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            tar.addfile(info)
    return out.getvalue()


@contextmanager
def served(pages):
    """Yields a server with these paths. Other paths are a 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = pages.get(self.path)
            self.send_response(200 if content is not None else 404)
            self.send_header("content-length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
