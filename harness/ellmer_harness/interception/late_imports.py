"""Something to do right after a package is imported, if a program imports it while a cassette is open."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

__all__ = ["LateImports"]


class LateImports(MetaPathFinder):
    """The packages to wait for. It is the first to be asked for a module, while there are any."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}

    def when(self, name: str, then: Callable[[], None]) -> None:
        """Waits for a package."""
        self._waiting[name] = then
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Waits for nothing any more."""
        self._waiting.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the package as Python finds it, with something to do afterwards."""
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
