"""This folder has the results of a run of the suite, and all forms of its report.

`results` holds rows and reports, `rows` makes the rows of a run, `report_json` writes and reads `report.json`, and
`score` counts. Each module of `formats` writes one form.
"""

from .report_json import UnreadableReport, finished, read, rescored, schema, write
from .results import FAILING, Play, Report, Row
from .rows import judged

__all__ = [
    "FAILING",
    "Play",
    "Report",
    "Row",
    "UnreadableReport",
    "finished",
    "judged",
    "read",
    "rescored",
    "schema",
    "write",
]
