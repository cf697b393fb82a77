"""A wrong name on the command line is answered with the nearest right one."""

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli import _group


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["explan", "PAIR-001"], "There is no command 'explan'. Did you mean 'explain'?"),
        (["facts", "--model", "gpt5mini"], "No model here is called 'gpt5mini' (did you mean 'gpt-5-mini'"),
        (["facts", "--feature", "temprature"], "is called 'temprature' (did you mean 'temperature'"),
        (["facts", "--model", "claude", "--provider", "openai"], "No cell has all of these."),
        (
            ["probe", "localhost:4000/v1", "--wire", "openai-chat", "--model", "m"],
            "localhost:4000/v1 is not an http or https URL. Did you mean http://localhost:4000/v1?",
        ),
        (
            ["run", "--against", "server", "--adapter", "ellmer-core", "--case", "onetool"],
            "there is no case 'onetool' (did you mean 'one_tool'?); `conformance serve --list-cases` lists them",
        ),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(arguments, told):
    answer = CliRunner().invoke(_group, arguments)
    assert answer.exit_code == 2
    assert told in answer.output


def test_a_command_that_resembles_none_is_unknown():
    assert "No such command 'xyz'" in CliRunner().invoke(_group, ["xyz"]).output
