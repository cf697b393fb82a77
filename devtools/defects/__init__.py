"""Known defects that break an invariant, each as a change of one source: `nox -s invariants -- --defects` puts each one back, and
its test must fail.

As a plugin of pytest (`-p devtools.defects`), it puts back the defect that the environment variable DEFECT names. The source on
the disk is not changed. The modules have the defects by the invariants that they break.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from . import cuts_and_cost, keys, memory_and_time, payment_and_outside
from .defect import Defect

__all__ = ["DEFECTS", "Defect"]

DEFECTS = cuts_and_cost.DEFECTS | memory_and_time.DEFECTS | payment_and_outside.DEFECTS | keys.DEFECTS


class _Loader(SourceFileLoader):
    """Compiles the source of a module with its defect."""

    put_back: Defect

    def get_code(self, fullname: str) -> CodeType | None:
        source = self.get_data(self.path).decode()
        if source.count(self.put_back.now) != 1:
            raise ImportError(f"{fullname} has not once {self.put_back.now!r}")
        changed = source.replace(self.put_back.now, self.put_back.defect)
        return compile(changed, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds the module of a defect."""

    def __init__(self, put_back: Defect) -> None:
        self.put_back = put_back

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.put_back.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            loader = _Loader(fullname, spec.origin)
            loader.put_back = self.put_back
            spec.loader = loader
        return spec


if name := os.environ.get("DEFECT"):
    assert DEFECTS[name].module not in sys.modules, "the plugin is loaded first"
    sys.meta_path.insert(0, _Finder(DEFECTS[name]))
