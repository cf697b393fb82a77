"""The notebook of the examples gives its stored outputs, in a real kernel, against the strict server."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first-chat.ipynb"


def outputs(notebook):
    """Returns each code cell's printed text and its values in every form. A kernel may send one text in several messages."""
    cells = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    return [
        [
            "".join(each.text for each in cell if "text" in each),
            *(each.data for each in cell if "data" in each),
        ]
        for cell in cells
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_notebook_shows_what_is_stored_in_it(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    stored = nbformat.read(NOTEBOOK, as_version=4)
    run = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(run, timeout=120).execute()

    assert outputs(run) == outputs(stored)
    assert sum(any(cell) for cell in outputs(stored)) >= 5
