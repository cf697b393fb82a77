"""The help of the commands names each default."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from ellmer_conformance.cli import _group
from ellmer_conformance.demo import main as demo


def commands(group: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, group
    if isinstance(group, click.Group):
        for each in group.list_commands(click.Context(group)):
            found = group.get_command(click.Context(group), each)
            assert found
            yield from commands(found, f"{name} {each}")


COMMANDS = dict([*commands(_group, "conformance"), ("ellmer-demo", demo)])


@pytest.mark.parametrize("name", COMMANDS)
def test_each_value_that_an_option_has_without_being_given_is_in_the_help(name):
    options = [each for each in COMMANDS[name].params if isinstance(each, click.Option) and not each.is_flag]
    unsaid = [
        each.opts[0]
        for each in options
        if each.to_info_dict()["default"] not in (None, (), "")
        and not each.show_default
        and "Default: " not in (each.help or "")
    ]
    assert unsaid == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_line_of_a_command_is_whole_in_the_list(name):
    command = COMMANDS[name]
    if isinstance(command, click.Group) and command is not _group:
        shown = [command.commands[each].get_short_help_str(78) for each in command.commands]
        assert not [text for text in shown if text.endswith("...")]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_word_has_one_name_in_the_options(name):
    """A provider is no vendor, and a wire format no family, also not in a second name of an option."""
    names = [each for option in COMMANDS[name].params for each in option.opts]
    assert not {"--vendor", "--family", "--tape"} & {*names}


@pytest.mark.parametrize("given", [["--vendor", "openai"], ["--vendor=openai"], ["--provider", "openai"]])
def test_an_older_name_of_an_option_works_in_scripts(given):
    shown = CliRunner().invoke(_group, ["facts", "--model", "gpt-5*", "--feature", "temperature", *given])
    assert (shown.exit_code, "openai" in shown.output) == (0, True)
