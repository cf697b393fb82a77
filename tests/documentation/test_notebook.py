"""The notebook of the examples gives its stored outputs, in a real kernel, against the strict server."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first-chat.ipynb"


def outputs(notebook):
    """Returns the output of each code cell: its printed text, or its value in every form."""
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    return [[output.get("text") or output.get("data") for output in cell.outputs] for cell in cells]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_notebook_shows_what_is_stored_in_it(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    stored = nbformat.read(NOTEBOOK, as_version=4)
    run = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(run, timeout=120).execute()

    assert outputs(run) == outputs(stored)
    assert sum(map(bool, outputs(stored))) >= 5
