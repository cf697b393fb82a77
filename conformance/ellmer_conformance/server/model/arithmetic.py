"""Expressions in a text: `2 * (3 + 4)`, `12 times 7`, `15% of 240`, `the square root of 9`, and their results."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from operator import add, mul, neg, pos, sub, truediv

_NUMBER = r"\d{1,15}(?:,\d{3})*(?:\.\d{1,9})?"
_WORDS = (
    ("+", r"plus|added to|más|加上|加|足す|زائد|più|mais"),
    ("-", r"minus|menos|moins|減去|减去|减|引く|ناقص|meno"),
    ("*", r"times|multiplied by|mal|fois|por|乘以|乘|掛ける|かける|ضرب|vezes|volte"),
    ("^", r"to the power of|hoch"),
    ("/", r"divided by|geteilt durch|divisé par|dividido (?:por|entre)|除以|割る|قسمة|diviso"),
)
_SIGNS = str.maketrans({"×": "*", "·": "*", "−": "-", "÷": "/", "＋": "+", "－": "-"})
_NAMED = tuple(
    (re.compile(rf"(?<=\d)\s*(?:{words})\s*(?=-?\d)", re.IGNORECASE), f" {sign} ") for sign, words in _WORDS
)
_BY = re.compile(r"(?<=\d)\s*x\s*(?=\d)")
_SHARE = re.compile(
    rf"(?<!\d)(?<!\d,)({_NUMBER})\s*(?:%|percent|per cent|Prozent)\s*(?:of|von|de|des)\s*({_NUMBER})",
    re.IGNORECASE,
)
_ROOT = re.compile(
    rf"(?:square root|Wurzel|racine carrée|raíz cuadrada)(?:\s+\w+)?\s+({_NUMBER})", re.IGNORECASE
)
_EXPRESSION = re.compile(
    rf"(?<![A-Za-z0-9_.,:/@#-])(?:sqrt)?[(\s]{{0,20}}-?{_NUMBER}[)\s]{{0,20}}(?:(?:\*\*|[-+*/^])[(\s]{{0,20}}-?(?:sqrt\()?{_NUMBER}[)\s]{{0,20}})+(?![A-Za-z0-9_@:/-])|sqrt\({_NUMBER}\)"
)
_DATED = re.compile(
    r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}:\d{2}\b|\b\d{3}-\d{3,4}(?:-\d{4})?\b"
)
#: What every expression has; most texts with numbers have none of it.
_COMMA = re.compile(r"(?<![\d,.])(\d{1,9}),(\d{1,2})(?![\d,])(?=\s*[-+*/^)=]|\s*\Z|\s*\?)")
_OF_TWO = {
    name: re.compile(rf"{name} (?:of|between) ({_NUMBER}) and ({_NUMBER})", re.IGNORECASE)
    for name in ("sum", "product", "difference", "quotient")
}
_DIGIT = re.compile(r"\d")
_LIKELY = re.compile(
    rf"\d\s*(?:[-+*/^%×÷−·＋－)]|x\s*\d|{'|'.join(words for _, words in _WORDS)}|percent|per cent|Prozent)",
    re.IGNORECASE,
)
_ROOTS = ("sqrt", "oot", "urzel", "acine", "aíz", "sum of", "product of", "difference", "quotient")
_LONGEST = 200  # characters of an expression
_GREATEST = 100  # of an exponent
_OPERATIONS: dict[type[ast.AST], Callable[..., float]] = {  # pyright: ignore[reportAssignmentType]  # numbers are what `neg` and `pos` get here
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
    ast.USub: neg,
    ast.UAdd: pos,
}


def expression_in(text: str) -> str:
    """Returns the first expression of a text with signs for its words, or an empty text. A date is none.

    Examples:
        >>> expression_in("What is 12 times 7?"), expression_in("and 15% of 240?"), expression_in("on 2026-12-24")
        ('12 * 7', '15 / 100 * 240', '')
    """
    if not (_DIGIT.search(text) and (_LIKELY.search(text) or any(word in text for word in _ROOTS))):
        return ""
    plain = _DATED.sub(" # ", text[:20_000]).translate(_SIGNS)
    plain = _COMMA.sub(r"\1.\2", plain)
    for name, sign in (("sum", "+"), ("product", "*"), ("difference", "-"), ("quotient", "/")):
        plain = _OF_TWO[name].sub(rf"\1 {sign} \2", plain) if name in plain else plain
    plain = _SHARE.sub(r"\1 / 100 * \2", _ROOT.sub(r"sqrt(\1)", plain))
    for pattern, sign in (*_NAMED, (_BY, " * ")):
        plain = pattern.sub(sign, plain)
    return next((whole for found in _EXPRESSION.finditer(plain) if (whole := _balanced(found[0]))), "")


def result_of(expression: str) -> str:
    """Returns the result of an expression as text.

    Args:
        expression: An expression as `expression_in` returns it.
    """
    try:
        plain = expression.replace("^", "**").replace(",", "")
        return f"{_value(ast.parse(plain.strip(), mode='eval').body):.10g}"
    except ZeroDivisionError:
        return "A division by zero has no result."
    except (KeyError, SyntaxError, OverflowError, TypeError, ValueError, RecursionError):
        return "This expression has no result."


def _balanced(found: str) -> str:
    """Returns an expression without a bracket that has no partner, or an empty text if it is none."""
    found = " ".join(found.split())[:_LONGEST]
    while found.count("(") > found.count(")") and found.startswith("("):
        found = found[1:].strip()
    while found.count(")") > found.count("(") and found.endswith(")"):
        found = found[:-1].strip()
    return found if found.count("(") == found.count(")") else ""


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, exponent = _value(left), _value(right)
            if abs(exponent) > _GREATEST or abs(base) > 10**9:
                raise OverflowError
            return float(base**exponent)
        case ast.BinOp(left=left, op=operation, right=right):
            return _OPERATIONS[type(operation)](_value(left), _value(right))
        case ast.UnaryOp(op=operation, operand=operand):
            return _OPERATIONS[type(operation)](_value(operand))
        case ast.Call(func=ast.Name(id="sqrt"), args=[only]):
            return math.sqrt(_value(only))
    raise ValueError
