"""The base install: `nox -s package` runs this with only the wheel installed."""

import sys
from importlib.metadata import distributions
from pathlib import Path
from subprocess import run

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

for script in ("conformance", "ellmer-conformance", "ellmer-demo", "ellmer-harness"):
    told = run([Path(sys.executable).parent / script, "--help"], capture_output=True, text=True, check=False)
    assert told.returncode == 2, told
    assert 'pip install "ellmer-core[' in told.stderr, told.stderr
    assert "Traceback" not in told.stderr, told.stderr
print("programs that need an extra say which")

from ellmer_harness import HarnessError, use_cassette  # noqa: E402

told = ""
try:
    use_cassette("a.json").__enter__()
except HarnessError as error:
    told = str(error)
assert "ellmer-core[harness]" in told, told
