"""The command line: `conformance`. Each command is a module of this package with a `command`."""

from __future__ import annotations

import pkgutil
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

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

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command. What an error quotes, such as the name of a file, commands neither the terminal nor GitHub Actions."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            from ..report.formats.terminal_escaping import printable  # noqa: PLC0415 - only for mistakes

            vars(error)["message"] = printable(error.message)  # nobody assigns it, say the types of click
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = get_close_matches(args[0], self.list_commands(ctx), n=1)
        if near and args[0] not in near:
            ctx.fail(f"There is no command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(200)) for name, each in found.items() if each])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ellmer-core")
def _group() -> None:
    """Judge what clients of language models send, by the rules of the real APIs.

    Exit codes: 0: all rules are kept; 1: some rules are broken; 2: the command could not run.
    """


def main() -> None:
    """Runs the console script."""
    sys.exit(_group())
