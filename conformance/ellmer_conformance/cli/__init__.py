"""The command line: `conformance`. Each command is a module of this package with a `command`."""

from __future__ import annotations

import pkgutil
import sys
from difflib import get_close_matches
from importlib import import_module

import click

__all__ = ["main"]


class _Commands(click.Group):
    """Finds commands by file name and imports only the requested one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        names = [module.name for module in pkgutil.iter_modules(__path__)]
        return [name.replace("_", "-") for name in names if not name.startswith("_")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        found: click.Command = import_module(f"{__name__}.{cmd_name.replace('-', '_')}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = get_close_matches(args[0], self.list_commands(ctx), n=1)
        if near and args[0] not in near:
            ctx.fail(f"There is no command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ellmer-core")
def _group() -> None:
    """Judge what clients of language models send, by the rules of the real APIs.

    Exit codes: 0: all rules are kept; 1: some rules are broken; 2: the command could not run.
    """


def main() -> None:
    """Runs the console script."""
    sys.exit(_group())
