"""docs/architecture.md: a request passes the files that the page names, and few others."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"
PROGRAM = """
import http.server, json, pathlib, sys, threading
import httpx, ellmer_harness
from ellmer_harness import use_cassette

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"temperature": 21}')

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
package, url = str(pathlib.Path(ellmer_harness.__file__).parent), f"http://127.0.0.1:{server.server_port}/weather"

def run(name, mode):
    with use_cassette(f"{sys.argv[1]}/{name}.json", mode=mode), httpx.Client() as client:
        client.get(url)

def files(name, mode):
    seen = {}
    def profile(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(package):
            seen[frame.f_code.co_filename[len(package) + 1:]] = True
    sys.setprofile(profile)
    try:
        run(name, mode)
    finally:
        sys.setprofile(None)
    return [*seen]

run("first", "rewrite"), run("first", "replay")  # imports, and caches that last as long as the process
print(json.dumps({mode: files("second", mode) for mode in ("rewrite", "replay")}))
"""


@pytest.fixture(scope="module")
def passed(tmp_path_factory):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path_factory.mktemp("flow"))]
    return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)


@pytest.mark.parametrize(("mode", "most"), [("rewrite", 28), ("replay", 20)])
def test_one_request_passes_few_files(passed, mode, most):
    assert len(passed[mode]) <= most, passed[mode]


def test_the_page_names_files_of_the_flow(passed):
    flow = (
        PAGE.read_text(encoding="utf-8").partition("The replay of one request passes")[2].partition("\n\n")[0]
    )
    replay, _, recording = flow.partition("A recording passes")
    named = re.findall(r"`((?:\w+/)+\w+\.py)`", replay)

    assert len(named) >= 12
    assert set(named) <= set(passed["replay"])
    assert set(re.findall(r"`(\w+/\w+\.py)`", recording)) <= set(passed["rewrite"])
