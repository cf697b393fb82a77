"""`nox -s news` finds what nobody knows: an SDK with invented names, read from a wheel that is never imported."""

import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from devtools.news import knowledge
from devtools.news.__main__ import main, news
from devtools.news.names import KINDS, Name, names_of
from devtools.news.sources import SOURCES

ROOT = Path(__file__).parents[2]
ANTHROPIC = next(source for source in SOURCES if source.package == "anthropic")

#: A release of an SDK: known names, and one invented name of each kind.
FILES = {
    "anthropic/types/model_param.py": 'Model = Union[Literal["claude-opus-5-5", "claude-quartz-9"], str]',
    "anthropic/types/anthropic_beta_param.py": """
__all__ = ["Beta"]
Beta = Union[str, Literal["context-1m-2025-08-07", "telepathy-2027-01-01"]]
""",
    "anthropic/_constants.py": 'ANTHROPIC_API_VERSION = "2027-04-01"',
    "anthropic/types/message_create_params.py": '''
class MessageCreateParamsBase(TypedDict, total=False):
    """A request."""

    max_tokens: Required[int]
    """Not `a_field_in_words`."""

    telepathy: Optional[Literal["weak", "strong_as_never_before"]]
''',
    "anthropic/types/aura_block.py": """
class AuraBlock(BaseModel):
    type: Literal["aura"]
""",
    "anthropic/types/stop_reason.py": 'StopReason: TypeAlias = Literal["end_turn", "enlightened"]',
    "anthropic/resources/telepathy/telepathy.py": """
def read(self, mind):
    return self._post(path_template("/v1/telepathy/{mind}/read", mind=mind))
""",
    "anthropic/lib/broken.py": "raise SystemExit('nobody imports this')",
}
INVENTED = {
    ("model", "claude-quartz-9"),
    ("beta", "telepathy-2027-01-01"),
    ("version", "2027-04-01"),
    ("field", "telepathy"),
    ("value", "strong_as_never_before"),
    ("type", "aura"),
    ("finish reason", "enlightened"),
    ("endpoint", "/v1/telepathy/{}/read"),
}


@pytest.fixture
def release(tmp_path):
    wheel = tmp_path / "anthropic-99.0.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as written:
        for name, text in FILES.items():
            written.writestr(name, text)
    return tmp_path


def test_every_kind_of_invented_name_is_found_and_nothing_else(release):
    with ZipFile(next(release.glob("*.whl"))) as wheel:
        names = names_of(ANTHROPIC, wheel)
    found = news(names, knowledge.known()[1], knowledge.declined())
    assert {(name.kind, name.name) for name in found if name.name != "weak"} == INVENTED
    assert {kind for kind, _ in INVENTED} == set(KINDS)


def test_the_command_names_the_release_and_fails(release, capsys):
    assert main(["anthropic", "--wheels", str(release)]) == 1
    told = capsys.readouterr().out
    assert "anthropic: anthropic 99.0.0" in told
    for kind, name in INVENTED:
        assert f"  {kind:13} {name}  (99.0.0, anthropic/" in told


def test_a_release_without_new_names_is_silent(tmp_path, capsys):
    with ZipFile(tmp_path / "anthropic-99.0.1-py3-none-any.whl", "w") as written:
        written.writestr("anthropic/types/model_param.py", 'Model = Literal["claude-opus-5-5"]')
    assert main(["anthropic", "--wheels", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("There is no news")


def test_a_known_name_is_known_where_the_list_says():
    for (provider, kind, name), by in knowledge.known()[1].items():
        file = ROOT / by.split(" ")[0]
        if file.suffix in {".py", ".json"} and file.is_file():
            words = knowledge._of_json(file) if file.suffix == ".json" else knowledge._of_code(file)
            spelled = knowledge._spellings(Name(provider, kind, name))
            assert words & set(spelled) or kind == "version", f"{by} does not have {name}"


@pytest.mark.parametrize("provider", ["anthropic", "openai", "google", "groq", "xai", "bedrock", "mistral"])
def test_the_profile_of_every_listed_model_is_of_its_generation(provider):
    """A model that no row names would silently be taken for an older one."""
    models = {
        name: by for (at, kind, name), by in knowledge.known()[1].items() if (at, kind) == (provider, "model")
    }
    assert models
    for name, by in models.items():
        assert knowledge._profile(Name(provider, "model", name)) or by == "prices.json", name
    assert not knowledge._profile(Name("openai", "model", "gpt-5.25-quartz"))


def test_what_is_declined_has_a_reason_and_is_not_everything():
    for entry in knowledge.declined():
        assert entry.because.endswith(".")
        assert entry.names != ("*",) or entry.files != ("*",), entry
    told = tomllib.loads(knowledge.DECLINED.read_text("utf-8"))["declined"]
    assert len(told) == len(knowledge.declined())


def test_every_package_has_a_release_in_the_list():
    releases, _ = knowledge.known()
    assert releases.keys() == {source.package for source in SOURCES}
