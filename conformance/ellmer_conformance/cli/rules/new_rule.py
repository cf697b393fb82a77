"""`conformance new-rule`: the skeleton of a rule in the right file, with the next free ID and a place for its evidence."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

import click
import tomlkit

from ...contract import rules
from ...contract.rule import Rule
from ...contract.rulebook import RuleBook
from .list import all_rules

_ID = re.compile(r"[A-Z]{3}-\d{3}")
_WIDTH = 110
#: The field that a skeleton refuses.
_FIELD = "field_to_name"
#: The names that a skeleton uses, by the last part of the module that has them.
_NAMES = {
    "abc": {"Iterator"},
    "exchange": {"Request"},
    "rule": {"Finding", "Refusal", "broken", "met"},
    "_refusals_and_examples": {"ASK", "MUST", "REJECT", "body", "book"},
}
_SKELETON = '''

@book.rule(
    "{id}",
    MUST,
    REJECT,
    source="recorded refusal",
    refusal=Refusal("{field}: this is not permitted"),
    examples=[body(ASK)],
    counterexamples=[body(ASK, {field}=True)],
)
def {name}(request: Request) -> Iterator[Finding]:
    """The request has no `{field}`.

    Fix: leave `{field}` out.
    """
    field = "{field}"
    yield broken(f"/{{field}}", f"`{{field}}` is there") if field in request.body else met("")
'''
_NEXT = """\
{id} is in {file}, line {line}. It is a skeleton, which refuses a field `{field}`. Fill in:

1. the name of the function, the sentence of its docstring, and its fix
2. `refusal`: the provider's own words, status, type and code
3. `examples` that the rule passes, and `counterexamples` that it catches
4. the check; and its place, because the rules are in the provider's order of checks
5. `source`: a link to a page about the rule. Links and recordings of refusals go under {id} in
   {evidence}.
   Until there is one, write `preview=True`.

Then run:
  conformance explain {id} --wire {wire}
  ./nox -s tests -- conformance/tests/contract
Until `source` is a link, tests in conformance/tests/contract/rules/test_evidence.py fail.
"""


@click.command("new-rule")
@click.option("--wire", required=True, help="The wire format, for example cohere.")
@click.option("--id", "id", help="The ID. Default: the next free one of the group.")
@click.option("--group", default="REQ", show_default=True, help="The group of the ID, for example ORD.")
def command(wire: str, id: str | None, group: str) -> None:
    """Write the skeleton of a new rule into this checkout.

    The rule gets the next free ID, and stands at the end of the file that has most rules of its group, or of the file that
    has them in other wire formats. It has an example
    and a counterexample, and an empty entry in evidence.toml.

    conformance new-rule --wire cohere --group ORD
    """
    try:
        book = rules.book(wire)
    except LookupError as error:
        raise click.UsageError(f"{error}.") from error
    chosen = checked(id, book) if id else next_id(group.upper())
    file = file_of(book, chosen.partition("-")[0])
    root = Path(str(files(rules))).parents[3]
    if not (root / "pyproject.toml").is_file():
        raise click.UsageError("This needs a checkout of the repository, because it adds to its files.")
    line = add_skeleton(file, chosen)
    evidence = add_evidence(book, chosen)
    where = {"file": file.relative_to(root), "evidence": evidence.relative_to(root)}
    click.echo(_NEXT.format(id=chosen, line=line, field=_FIELD, wire=book.wire, **where), nl=False)


# The ID ----------------------------------------------------------------------------------------------------


def next_id(group: str) -> str:
    """Returns the first ID after those of a group, over all wire formats and providers."""
    texts = (file.read_text("utf-8") for file in Path(rules.__file__).parent.rglob("*.py"))
    numbers = [
        int(number) for text in texts for number in re.findall(rf'"{re.escape(group)}-(\d{{3}})"', text)
    ]
    if not numbers:
        groups = sorted({rule.group for rule, _ in all_rules()})
        raise click.UsageError(f"There is no group {group}. The groups are {', '.join(groups)}.")
    return f"{group}-{max(numbers) + 1:03}"


def checked(id: str, book: RuleBook) -> str:
    """Returns an ID that is well formed and free."""
    if not _ID.fullmatch(id):
        raise click.UsageError(f"{id} is not an ID of a rule, such as ORD-002.")
    next_id(id.partition("-")[0])  # the group is known
    if id in book.rules:
        raise click.UsageError(f"{book.wire} already has a rule {id}: {book.rules[id].sentence}")
    return id


# The file --------------------------------------------------------------------------------------------------


def add_skeleton(file: Path, id: str) -> int:
    """Adds the skeleton to the end of a file, and returns its line."""
    source = with_names(file.read_text("utf-8")).rstrip("\n") + "\n"
    skeleton = _SKELETON.format(id=id, field=_FIELD, name=f"rule_{id.lower().replace('-', '_')}")
    file.write_text(source + skeleton, "utf-8")
    return source.count("\n") + 3


def file_of(book: RuleBook, group: str) -> Path:
    """Returns the file that has most rules of a group. If the wire format has none, it is the file that is named as those
    of the other formats, else the one with most rules.
    """
    package = book_package(book)
    places = [(rule.group, *_module(rule)) for rule in book.rules.values()]
    ours = [(its, name) for its, folder, name in places if folder == package]
    elsewhere = [_module(rule)[1] for rule, _ in all_rules() if rule.group == group]
    names = {name for _, name in ours}
    chosen = (
        [name for its, name in ours if its == group]
        or [name for name in elsewhere if name in names]
        or [name for _, name in ours]
    )
    (name, _), *_ = Counter(chosen).most_common(1)
    found = sys.modules[f"{package}.{name}"].__file__
    assert found, "a module of rules is a file"
    return Path(found)


def _module(rule: Rule) -> tuple[str, str]:
    """Returns the package and the name of a rule's module."""
    package, _, name = rule.check.__module__.rpartition(".")
    return package, name


def book_package(book: RuleBook) -> str:
    return f"{rules.__name__}.{book.wire.replace('-', '_')}"


def with_names(source: str) -> str:
    """Returns a file whose imports have the names of a skeleton."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            wanted = _NAMES.get(node.module.rpartition(".")[2], set())
            if wanted - {alias.name for alias in node.names}:
                source = source.replace(ast.get_source_segment(source, node) or "", imported(node, wanted))
    return source


def imported(node: ast.ImportFrom, more: set[str]) -> str:
    """Returns an import with more names, in the order and the form of ruff."""
    names = {(alias.name, alias.asname) for alias in node.names} | {(name, None) for name in more}
    ordered = sorted(names, key=lambda name: (_kind(name[0]), name[0]))
    written = [f"{name} as {alias}" if alias else name for name, alias in ordered]
    head = f"from {'.' * node.level}{node.module} import "
    if len(head + ", ".join(written)) <= _WIDTH:
        return head + ", ".join(written)
    return head + "(\n" + "".join(f"    {name},\n" for name in written) + ")"


def _kind(name: str) -> int:
    """Returns the place of a kind of name: constants, classes, then functions."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2


def add_evidence(book: RuleBook, id: str) -> Path:
    """Adds an empty entry to the evidence of the wire format's author, and returns the file."""
    file = Path(str(files(book_package(book)))) / "evidence.toml"
    text = tomlkit.parse(file.read_text("utf-8"))
    table = text.setdefault(book.provider, tomlkit.table())
    table[id] = tomlkit.array()
    file.write_text(tomlkit.dumps(text), "utf-8")
    return file
