"""The command `conformance`, called in this process: a process of its own takes a second and more to start."""

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
    """A command that starts pytest, in a folder, as a process of its own would: what it changes is put back."""
    with as_it_was(folder):
        return run(*arguments)


def pytest_in(folder, *arguments):
    """pytest in a folder, likewise, with the snapshots that the suite needs: its exit code, and what it says."""
    said = StringIO()
    with as_it_was(folder), redirect_stdout(said):
        code = pytest.main(["-p", "syrupy", "-p", "no:cacheprovider", *arguments])
    return code, said.getvalue()


@contextmanager
def as_it_was(folder):
    """In a folder; the variables, the import path and the modules of the folder are as before in the end."""
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
