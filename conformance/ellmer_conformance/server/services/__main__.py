"""Writes the page of endpoints: `python -m ellmer_conformance.server.services > docs/conformance/endpoints.md`."""

from __future__ import annotations

import sys

from ..translated import PATHS
from . import endpoints

_HEAD = """\
# Endpoints of the strict server

The strict server answers requests to chat endpoints in eight wire formats. It also serves the endpoints below. 501
marks an endpoint of the provider that this server does not have. The reply says so in the provider's form. Any other
path gets a 404 in the provider's own words. This page is made from the code.

Files, batches, stored answers and conversations live as long as the server, and each case and nonce has its own. A
batch is complete at the second request for it, and so is a background answer. A request of a batch expires if its custom id begins with `expired`.
Vectors depend on the words of a text, and their length is 1. Images have one colour, which the prompt names. Sounds
are silent and have their words as metadata. A transcription returns these words.

Claude on Vertex, Bedrock InvokeModel, Cohere v1 and Gemini Interactions are judged in the format that they wrap. The
journal shows them in this format. InvokeModel accepts the forms of Claude, Nova, Llama, Mistral, Titan, Command, and
of models with Chat Completions.

`GET /v1/responses` opens a [WebSocket](https://developers.openai.com/api/docs/guides/websocket-mode) with the package of the extra
`websockets`. Each `response.create` is judged and answered like a POST, with OpenAI's errors as events. A
response with `store: false` is continued on its own connection only. `generate: false` prepares a response without output. After 60
minutes, the connection ends with OpenAI's error. Requests of several lanes (`stream_id`) are answered one after another.
The server's WebSocket has no `response.steer` and no `background`. Other providers' WebSockets are not served, and not passed on in the proxy mode. On 2026-11-29, Codex 0.171.0 (with
`supports_websockets = true`) and the OpenAI SDK 3.57.0 for Python talked to it.

| format | method | path | served |
|---|---|---|---|
"""


def _by_format(row: tuple[str, str, str, bool]) -> tuple[str, bool]:
    return row[0], not row[3]


def page() -> str:
    """Returns the page."""
    found = sorted(dict.fromkeys([*endpoints(), *((*path, True) for path in PATHS)]), key=_by_format)
    rows = (
        f"| {wire} | {method or 'any'} | `{path}` | {'yes' if served else '501'} |\n"
        for wire, method, path, served in found
    )
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(page())
