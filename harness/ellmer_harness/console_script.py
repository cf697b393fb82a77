"""The console scripts. The base install has the scripts without their dependencies; they then print the
package to install.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Ends the program with exit code 2 if a dependency of an extra is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        sys.stderr.write(f'{error}. Install what this needs: pip install "ellmer-core[{extra}]"\n')
        sys.exit(2)


def main() -> int:
    """Runs `ellmer-harness`."""
    with needing("harness"):
        from .cli import main  # noqa: PLC0415  # may not be there

        return main()
