"""Frozen transcripts as syrupy snapshots: one text file for each case, for all wire formats and modes.

syrupy expects one test for each snapshot. Here, hundreds of tests share one, so the names and places are those of the
case.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from syrupy.data import Snapshot, SnapshotCollection
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

if TYPE_CHECKING:
    from syrupy.location import PyTestLocation

__all__ = ["SHIPPED", "Transcript"]

_PACKAGE = Path(__file__).parent.parent

#: The frozen transcripts that came with this package; in a checkout they are beside it.
SHIPPED = next(p for p in (_PACKAGE / "transcripts", _PACKAGE.parent / "snapshots") if p.is_dir())


class Transcript(SingleFileSnapshotExtension):
    """A snapshot in `<folder>/<case>.txt`."""

    file_extension = "txt"
    folder: ClassVar[Path] = SHIPPED
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        """Returns the text unchanged."""
        return str(data)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:  # noqa: ARG003 - one folder for all tests
        """Returns the folder of the transcripts."""
        return str(cls.folder)

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: Any) -> str:  # noqa: ARG003 - see above
        """Returns the case's name."""
        return str(index)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: Any = 0) -> str:
        """Returns a name that syrupy accepts as the test's."""
        return f"{test_location.methodname}[{index}]"

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:  # noqa: ARG003 - see above
        """Returns True, because any test of the suite may use any transcript."""
        return Path(snapshot_location).parent == cls.folder

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        """Returns the only snapshot of a file."""
        collection = SnapshotCollection(location=snapshot_location)
        collection.add(Snapshot(name=f"test_conformance[{Path(snapshot_location).stem}]"))
        return collection
