"""The cassette as a file: vcrpy's format version 1, as readable JSON.

```python
my_vcr = vcr.VCR()
my_vcr.register_serializer("ellmer", Serializer("tests/cassettes/blobs"))
my_vcr.use_cassette("tests/cassettes/chat.json", serializer="ellmer")   # stock vcrpy replays it
```

`metadata["ellmer_harness"]` holds `format` (of the bodies, see `codec`) and the provenance. A response may
have two keys that vcrpy ignores: `stream` (chunk sizes, gaps in milliseconds, and the kind of end) and
`error` (no answer arrived; the status code is 0).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os.path import relpath
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from ..errors import CassetteError
from .blobs import Blobs
from .bodies import decode, encode
from .cassette_validation import check
from .json_layout import layout

__all__ = ["FORMAT", "OURS", "Serializer"]

FORMAT = 1
OURS = "ellmer_harness"
Json = dict[str, Any]


class Serializer:
    """A vcrpy serializer. `blobs` is the folder of the media files, shared by any number of cassettes.

    `near` is the folder of the cassette. With it, the blob folder that the cassette names has priority.
    """

    def __init__(self, blobs: Blobs | Path | str, near: Path | None = None) -> None:
        self.blobs = blobs if isinstance(blobs, Blobs) else Blobs(Path(blobs))
        self.near = near

    def serialize(self, cassette: Json) -> str:
        """Returns the text of vcrpy's cassette dictionary. Bodies may be bytes, text or `None`."""
        return layout(self.form(cassette))

    def form(self, cassette: Json) -> Json:
        """Returns the JSON value that is written for vcrpy's cassette dictionary."""
        interactions = [self._written(interaction) for interaction in cassette["interactions"]]
        metadata = dict(cassette.get("metadata") or {})
        metadata[OURS] = {"format": FORMAT, **metadata.get(OURS, {})}
        if self.blobs.used and self.near is not None:
            metadata[OURS]["blobs"] = Path(relpath(self.blobs.folder, self.near)).as_posix()
        return {"version": cassette["version"], "metadata": metadata, "interactions": interactions}

    def deserialize(self, text: str) -> Json:
        """Returns vcrpy's cassette dictionary, with all bodies as bytes."""
        cassette = self.parse(text)
        for interaction in cassette["interactions"]:
            request, response = interaction["request"], interaction["response"]
            request["body"] = decode(request["body"], self.blobs)
            response["body"] = {"string": decode(response["body"], self.blobs)}
        return cassette

    def parse(self, text: str | bytes) -> Json:
        """Returns the checked JSON of the file, with bodies in their readable form. Raises `CassetteError`."""
        try:
            cassette = _loads(text)
        except (ValueError, RecursionError) as error:
            raise CassetteError(f"it is not complete: {error}") from error
        if not isinstance(cassette, dict) or not isinstance(cassette.get("interactions"), list):
            raise CassetteError("it is JSON but not a cassette, because it has no list of interactions")
        metadata = cassette.get("metadata")
        ours = metadata.get(OURS, {}) if isinstance(metadata, dict) else {}
        ours = ours if isinstance(ours, dict) else {}
        if cassette.get("version") != 1 or ours.get("format") != FORMAT:
            raise CassetteError(
                f"its version is {cassette.get('version')!r}, format {ours.get('format')!r}; this package reads "
                f"version 1, format {FORMAT}: a newer ellmer-core may have written it"
            )
        check(cassette, text, OURS)
        if self.near is not None and "blobs" in ours:
            self.blobs.folder = self.near / ours["blobs"]
        return cassette

    def _written(self, interaction: Json) -> Json:
        request, response = interaction["request"], dict(interaction["response"])
        content = response.pop("body")["string"]
        return {
            "request": {
                "method": request["method"],
                "uri": request["uri"],
                "headers": dict(request["headers"]),
                "body": self._form(request["body"], request["headers"]),
            },
            "response": {
                "status": response.pop("status"),
                "headers": dict(response.pop("headers")),
                "body": self._form(content, interaction["response"]["headers"]),
                **response,
            },
        }

    def _form(self, body: bytes | str | None, headers: Mapping[str, list[str]]) -> Json | None:
        values = {name.lower(): value for name, value in headers.items()}
        content_type = "".join(values.get("content-type", [""])[:1]).lower()
        coding = ", ".join(values.get("content-encoding", []))
        return encode(
            body.encode() if isinstance(body, str) else body or b"", content_type, coding, self.blobs
        )


def _loads(text: str | bytes) -> Any:
    """Parses JSON twice as fast as `json`. If it fails, `json` parses the text again for a better error
    message.
    """
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text if isinstance(text, str) else text.decode("utf-8-sig"))
