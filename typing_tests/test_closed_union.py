"""A new class of content makes mypy name every place that has to know it. (`nox -s types` runs this.)"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {
    "contents/json_serialization.py",
    "render/html.py",
    "render/markdown.py",
    "render/printed_form.py",
    "telemetry/gen_ai_attributes.py",
    *(f"wire/{format}/to_wire.py" for format in ("anthropic", "bedrock", "gemini", "ollama")),
    *(f"wire/{format}/to_wire.py" for format in ("openai_chat", "openai_responses")),
}
NEW_CLASS = '''
@dataclass(frozen=True, eq=False, repr=False)
class ContentPlace(Content):
    """A place."""

    name: str


#: Every content of this library.'''


def test_a_new_class_makes_the_type_checker_name_every_place(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "ellmer_core", tmp_path / "ellmer_core")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    file = tmp_path / "ellmer_core/contents/content.py"
    code = file.read_text(encoding="utf-8")
    code = code.replace("#: Every content of this library.", NEW_CLASS.lstrip("\n"), 1)
    file.write_text(
        code.replace("    | ContentUnknown\n)", "    | ContentUnknown\n    | ContentPlace\n)", 1),
        encoding="utf-8",
    )
    matching = [
        p for p in (tmp_path / "ellmer_core").rglob("*.py") if "assert_never" in p.read_text(encoding="utf-8")
    ]

    run = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *map(str, matching)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    named = [
        line.partition(":")[0]
        for line in run.stdout.splitlines()
        if '"ContentPlace"; expected "Never"' in line
    ]

    assert {Path(name).as_posix().removeprefix("ellmer_core/") for name in named} == PLACES, run.stdout
    assert len(named) == len(PLACES) + 6  # each wire format has two: contents of the user and of the model
