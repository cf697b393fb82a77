"""The base install, looked at from inside: `nox -s package` runs this where only the wheel was installed."""

import sys
from importlib.metadata import distributions

LIMIT = 13

names = sorted({d.name.lower() for d in distributions()} - {"pip", "setuptools"})
print(f"{len(names)} distributions: {', '.join(names)}")
assert len(names) <= LIMIT, f"more than {LIMIT}"

before = set(sys.modules)
import ellmer_core as ec  # noqa: E402

heavy = {"httpx", "pydantic", "docstring_parser"} & (set(sys.modules) - before)
assert not heavy, f"loaded by the import alone: {heavy}"

missing = [name for name in ec.__all__ if not hasattr(ec, name)]
assert not missing, missing
print(f"{len(ec.__all__)} names, all there without any extra")
