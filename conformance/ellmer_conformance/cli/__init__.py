"""The command line: `conformance`. Each folder is a section of its help, and each command is a module there with a `command`."""

from __future__ import annotations

import pkgutil
import sys
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any

import click

__all__ = ["main"]


#: The folders with commands, in the order of the help.
_FOLDERS = ("runs", "recordings", "reports", "rules", "server")


@cache
def _modules() -> dict[str, str]:
    """Returns the module of each command, by the command's name."""
    return {
        module.name.replace("_", "-"): f"{__name__}.{folder}.{module.name}"
        for folder in _FOLDERS
        for module in pkgutil.iter_modules([f"{path}/{folder}" for path in __path__])
        if not module.name.startswith("_")
    }


class _Commands(click.Group):
    """Finds commands by file name and imports only the requested one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(_modules())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        module = _modules().get(cmd_name)
        found: click.Command | None = import_module(module).command if module else None
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command. What an error quotes, such as the name of a file, commands neither the terminal nor GitHub Actions."""
        try:
            return self._invoked(ctx)
        except click.ClickException as error:
            from ..report.formats.terminal_escaping import printable  # noqa: PLC0415 - only for mistakes

            vars(error)["message"] = printable(error.message)  # nobody assigns it, say the types of click
            raise

    def _invoked(self, ctx: click.Context) -> Any:
        """Runs a command. A disk that is full or read-only is a sentence."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # `… | head` has seen enough, as click knows
            raise
        except OSError as error:
            raise click.UsageError(str(error)) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = get_close_matches(args[0], self.list_commands(ctx), n=1)
        if near and args[0] not in near:
            ctx.fail(f"There is no command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        for folder in _FOLDERS:
            title = str(import_module(f"{__name__}.{folder}").__doc__).partition(":")[0]
            inside = {
                name: each for name, each in found.items() if each and f".{folder}." in _modules()[name]
            }
            with formatter.section(title):
                formatter.write_dl([(name, each.get_short_help_str(200)) for name, each in inside.items()])


def _today(option: str) -> str:
    """Returns the name of an option, of which scripts may have an older one."""
    return {"vendor": "provider", "family": "wire"}.get(option, option)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "token_normalize_func": _today},
)
@click.version_option(package_name="ellmer-core")
def _group() -> None:
    """Judge what clients of language models send, by the rules of the real APIs.

    Exit codes: 0: all rules are kept; 1: some rules are broken; 2: the command could not run.
    """


def main() -> None:
    """Runs the console script."""
    sys.exit(_group())
