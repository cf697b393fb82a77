"""The command `conformance` in this process, because a separate process takes a second to start."""

import os
import sys
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli import _group


def run(*arguments):
    return CliRunner().invoke(_group, [str(each) for each in arguments])


def run_in(folder, *arguments):
    """Runs a command that starts pytest in a folder, as a separate process would. Its changes are reverted."""
    with as_it_was(folder):
        return run(*arguments)


def pytest_in(folder, *arguments):
    """Runs pytest in a folder, with the snapshots that the suite needs. Returns its exit code and output."""
    said = StringIO()
    with as_it_was(folder), redirect_stdout(said):
        code = pytest.main(["-p", "syrupy", "-p", "no:cacheprovider", *arguments])
    return code, said.getvalue()


@contextmanager
def as_it_was(folder):
    """Changes to a folder, and restores the variables, the import path and the modules afterwards."""
    before = {*sys.modules}
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("PYTEST_", "COV_CORE"))]:
            patch.delenv(name)  # who runs us is no business of the run within
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.setattr(sys, "dont_write_bytecode", True)
        try:
            yield
        finally:
            for name in [
                name for name in sys.modules if name not in before and is_in(folder, sys.modules[name])
            ]:
                del sys.modules[name]


def is_in(folder, module):
    file = getattr(module, "__file__", None)
    return bool(file) and Path(file).is_relative_to(folder)
