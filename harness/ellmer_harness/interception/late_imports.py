"""Runs a function after a package is imported while a cassette is open."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

__all__ = ["LateImports"]


class LateImports(MetaPathFinder):
    """Waits for imports of packages. While it waits for any, Python asks it first for every module."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}

    def when(self, name: str, then: Callable[[], None]) -> None:
        """Waits for a package."""
        self._waiting[name] = then
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Stops waiting for packages."""
        self._waiting.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec that Python finds, with a function to run after the import."""
        if fullname not in self._waiting:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            real = spec.loader.exec_module

            def run(module: ModuleType) -> None:
                real(module)
                if then := self._waiting.pop(fullname, None):
                    then()

            spec.loader.exec_module = run  # type: ignore[method-assign]  # of this one package
        return spec
