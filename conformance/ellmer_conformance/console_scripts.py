"""The console scripts. The base install has the scripts without their dependencies; they then print the package to
install.
"""

from __future__ import annotations

from ellmer_harness.console_script import needing


def main() -> None:
    """Runs `conformance`."""
    with needing("conformance"):
        from .cli import main  # noqa: PLC0415  # may not be there

        main()


def demo() -> None:
    """Runs `ellmer-demo`."""
    with needing("demo"):
        from .demo import main  # noqa: PLC0415  # may not be there

        main()
