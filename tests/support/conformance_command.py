"""The command `conformance`, called in this process."""

from click.testing import CliRunner

from ellmer_conformance.cli import _group


def run(*arguments):
    return CliRunner().invoke(_group, [str(each) for each in arguments])
