"""Writes the page of endpoints: `python -m ellmer_conformance.server.services > docs/endpoints.md`."""

from __future__ import annotations

import sys

from . import endpoints

_HEAD = """\
# Endpoints

The strict server answers requests to chat endpoints in eight wire formats. It also serves the endpoints below. An endpoint with
501 is one that the provider has and this server has not; the reply says so in the provider's form. Any other path is 404, in the
provider's own words. This page is made from the code.

Files, batches, stored answers and conversations live as long as the server, and each case and nonce has its own. A batch is
done after two looks at it, and a background answer too. Vectors depend on the words of a text, and their length is 1.

| format | method | path | served |
|---|---|---|---|
"""


def main() -> None:
    """Prints the page."""
    rows = (
        f"| {wire} | {method or 'any'} | `{path}` | {'yes' if served else '501'} |\n"
        for wire, method, path, served in endpoints()
    )
    sys.stdout.write(_HEAD + "".join(rows))


if __name__ == "__main__":
    main()
