"""Small changes of code, each of which some test should notice. A change replaces one expression or statement.

Left alone is what no test can or should notice: annotations, docstrings, imports, assertions (they are for the type
checker), links, sentences, and the examples of rules, which are data of tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
}
#: Names whose values are for tools.
FOR_TOOLS = {"__all__", "__slots__", "__match_args__", "TYPE_CHECKING"}


@dataclass(frozen=True)
class Mutation:
    """A change of one file: the bytes from `start` to `end` become `text`. `line` is the first line of its place."""

    path: str
    line: int
    start: int
    end: int
    text: str
    where: str

    def applied(self, source: str) -> str:
        """Returns the changed source."""
        data = source.encode()
        return (data[: self.start] + self.text.encode() + data[self.end :]).decode()

    def before(self, source: str) -> str:
        """Returns the changed place as it was, on one line."""
        return " ".join(source.encode()[self.start : self.end].decode().split())

    @property
    def after(self) -> str:
        """Returns the changed place as it becomes, on one line."""
        return " ".join(self.text.split())


def mutations(path: str, source: str) -> Iterator[Mutation]:
    """Yields all changes of a file that still compile."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, where in places(ast.parse(source), ""):
        for place, text in changes(node):
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[(place.end_lineno or place.lineno) - 1] + (place.end_col_offset or 0)
            yield Mutation(path, place.lineno, start, end, text, where)


# Places ----------------------------------------------------------------------------------------------------


def places(node: ast.AST, where: str) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yields the expressions and statements below a node that may change, with the name of their function or class."""
    for child in ast.iter_child_nodes(node):
        if left_alone(node, child):
            continue
        if isinstance(child, ast.expr | ast.stmt):
            yield child, where
        inside = where
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = f"{where}.{child.name}".lstrip(".")
        yield from places(child, inside)


def left_alone(parent: ast.AST, node: ast.AST) -> bool:
    """Tells whether a node is for readers or tools."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.JoinedStr | ast.Global | ast.Nonlocal):
        return True  # the places inside of an f-string are wrong before Python 3.12
    if isinstance(node, ast.keyword) and node.arg in {"examples", "counterexamples"}:
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # docstrings, `...`
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.If):
        names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        if names & FOR_TOOLS or (isinstance(node, ast.If) and "__name__" in names):
            return True
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return any(isinstance(one, ast.Name) and one.id == "overload" for one in node.decorator_list)
    annotations = (getattr(parent, name, None) for name in ("annotation", "returns"))
    return any(node is annotation for annotation in annotations)


# Changes ---------------------------------------------------------------------------------------------------


Node = ast.expr | ast.stmt


def changes(node: Node) -> Iterator[tuple[Node, str]]:
    """Yields what a node, or its condition, may become."""
    for text in (*operators(node), *statements(node)):
        yield node, text
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        test = node.test
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
            yield test, f"(not {ast.unparse(test)})"


def operators(node: Node) -> Iterator[str]:
    """Yields what an expression may become."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in SWAPPED:
            yield f"({ast.unparse(ast.Compare(left, [swapped(op)], [right]))})"
        case ast.BoolOp(op=op, values=values):
            yield f"({ast.unparse(ast.BoolOp(swapped(op), values))})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in SWAPPED:
            yield f"({ast.unparse(ast.BinOp(left, swapped(op), right))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(value=value):
            yield from constants(value)
        case ast.Call(func=function, args=args, keywords=keywords):
            for dropped in keywords:
                yield ast.unparse(ast.Call(function, args, [one for one in keywords if one is not dropped]))


def statements(node: ast.AST) -> Iterator[str]:
    """Yields what a statement may become."""
    match node:
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield "return None"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete():
            yield "pass"
        case ast.Raise(exc=ast.expr()):
            yield "pass"
        case ast.Assign(targets=targets, value=value) if not _is_none(value):
            yield f"{' = '.join(map(ast.unparse, targets))} = None"
        case ast.Continue():
            yield "break"
        case ast.Break():
            yield "continue"


def constants(value: object) -> Iterator[str]:
    """Yields another value of the same type. A text with spaces is a sentence, which may have other words."""
    if isinstance(value, bool):
        yield repr(not value)
    elif isinstance(value, int | float):
        yield repr(value + 1)
    elif isinstance(value, str) and value and not any(space in value for space in (" ", "\n", "://")):
        yield repr(f"{value}X")


def swapped(op: ast.AST) -> Any:
    """Returns the operator that stands for the opposite, or for another result."""
    return SWAPPED[type(op)]()


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
