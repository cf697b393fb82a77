"""Better errors for calls with wrong arguments: a keyword that a function does not have, and a value of a wrong type."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache, partial, wraps
from importlib import import_module
from types import FunctionType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from ..errors import EllmerError, UsageError, forget_locals

__all__ = [
    "KINDS", "caller", "check_spelling", "misfit", "quoted", "spell_out", "spelt", "spelt_methods", "takes", "unfit",
    "wrong_keyword",
]  # fmt: skip

_PACKAGE = __name__.partition(".")[0]

# --- wrong keywords --------------------------------------------------------------------------------------


#: What other libraries call a parameter.
ELSEWHERE = {
    **dict.fromkeys(("data_model", "response_model", "output_type", "response_format", "schema"), "type"),
    **dict.fromkeys(("system", "instructions"), "system_prompt"),
    **dict.fromkeys(("func", "fn"), "function"),
    **dict.fromkeys(("max_workers", "max_concurrency", "concurrency"), "max_active"),
    "echo_mode": "echo",
    "yield_all": "content",  # of the proposal for ellmer's stream(), which is `content="all"` here
}
F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K", bound=type)


def wrong_keyword(name: str, of: str, keywords: Iterable[str]) -> TypeError:
    """Returns the error for a keyword that a function does not have, with the one that was probably meant."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

    keywords = list(keywords)
    if "params" in keywords and (instead := _instead(name)):
        return TypeError(f"`{name}=` is not a parameter of {of}(): {instead}")
    near = [ELSEWHERE[name]] if ELSEWHERE.get(name) in keywords else get_close_matches(name, keywords, 1)
    advice = (
        f"did you mean `{near[0]}=`?"
        if near
        else f"it has {', '.join(f'`{n}=`' for n in keywords) or 'none'}."
    )
    return TypeError(f"`{name}=` is not a parameter of {of}(); {advice}")


def _instead(name: str) -> str | None:
    """Returns where a keyword of a chat belongs, which has another place here."""
    if name in ("tool", "tools"):
        return "give the tools to register_tools()."
    neutral = import_module(f"{_PACKAGE}.wire.interfaces").NEUTRAL | {"thinking"}
    return f"give params=params({name}=…)." if name in neutral else None


def check_spelling(extra: Iterable[str], of: str, parameters: Iterable[str], near: float = 0.88) -> None:
    """Raises `TypeError` for a name that differs from a parameter by a letter or two. `logprobs` is a provider's."""
    from difflib import get_close_matches  # noqa: PLC0415 - these names are rare

    for name in extra:
        found = get_close_matches(name, parameters, 1, near)
        if found and found[0].replace("_", "") != name.replace("_", ""):
            raise wrong_keyword(name, of, parameters)


def spelt(function: F, of: str = "", *, makes: bool = False) -> F:
    """Returns the function, or the class, with a better error for a wrong keyword, and with a check of the types of its
    arguments. `of` is its name in the error. What only makes a value (`makes`, and each class) is called before the check: its
    own errors have better words.
    """
    if isinstance(function, type):
        made: Any = function.__init__  # type: ignore[misc]  # of this very class
        made = getattr(made, "__wrapped__", made)
        function.__init__ = spelt(made, function.__name__, makes=True)  # type: ignore[misc]  # of this very class
        for base in function.__mro__:
            spelt_methods(base)
        return cast("F", function)
    if function.__globals__ is globals() and hasattr(function, "__wrapped__"):
        return function  # it was spelt before
    called: Any = _taking_names(function) if hasattr(function, "registry") else function
    wrap = _spelt_async if called.__code__.co_flags & CO_COROUTINE else _spelt_maker if makes else _spelt_call
    name = of or called.__qualname__.rpartition(".")[2]
    return cast("F", wrap(called, name, _checks(called, name)))


def spelt_methods(kind: K) -> K:
    """Returns the class, whose public methods name a wrong keyword and a wrong type. Another package's stays as it is."""
    fields: Collection[str] = vars(kind).get("__dataclass_fields__", ())
    for name, method in [*vars(kind).items()] if kind.__module__.startswith(_OWN) else ():
        if isinstance(method, FunctionType) and not name.startswith("_") and name not in fields:
            setattr(kind, name, _spelt_bare(method) if _is_bare(method) else spelt(method))
    return kind


def _is_bare(method: FunctionType) -> bool:
    """Tells whether a method has no parameters. Such a one may be called for each piece of a stream."""
    code = method.__code__
    variable = code.co_flags & (CO_VARARGS | CO_VARKEYWORDS | CO_COROUTINE)
    return not (variable or code.co_kwonlyargcount) and code.co_varnames[: code.co_argcount] == ("self",)


def _spelt_bare(method: Any) -> Any:
    @wraps(method)
    def call(self: Any, **unknown: Any) -> Any:
        if unknown:
            raise wrong_keyword(next(iter(unknown)), method.__name__, ())
        return method(self)

    return call


def _taking_names(function: Any) -> Any:
    """Returns a function of `singledispatch` that also takes its first argument by name, like other functions."""
    first = function.__wrapped__.__code__.co_varnames[0]

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not args and first not in kwargs:
            return function.__wrapped__(**kwargs)  # Python's own words for what is missing
        return function(*args, **kwargs) if args else function(kwargs.pop(first), **kwargs)

    return call


def _spelt_async(function: Any, name: str, wrong: Wrong) -> Any:
    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        if found := wrong(args, kwargs):
            args, kwargs = (), {}
            raise found
        try:
            return await function(*args, **kwargs)
        except UsageError as error:
            args, kwargs = (), {}
            forget_locals(error)
            raise
        except TypeError as error:
            raise (_better(error, function, name, kwargs) or error) from error.__cause__

    return call


def _spelt_call(function: Any, name: str, wrong: Wrong) -> Any:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if found := wrong(args, kwargs):
            args, kwargs = (), {}
            raise found
        try:
            return function(*args, **kwargs)
        except UsageError as error:
            args, kwargs = (), {}
            forget_locals(error)
            raise
        except TypeError as error:
            raise (_better(error, function, name, kwargs) or error) from error.__cause__

    return call


def _spelt_maker(function: Any, name: str, wrong: Wrong) -> Any:
    @wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        if str(sys._getframe(1).f_globals.get("__name__")).startswith(_OWN):  # noqa: SLF001 - our own values are many, and checked
            return function(*args, **kwargs)
        try:
            made = function(*args, **kwargs)
        except (AttributeError, TypeError, ValueError, EllmerError) as error:
            better = _better(error, function, name, kwargs) or wrong(args, kwargs)
            args, kwargs = (), {}
            forget_locals(error)
            raise (better if better and not _names(error, better) else error) from error.__cause__
        if found := wrong(args, kwargs):
            args, kwargs = (), {}
            raise found
        return made

    return make


Wrong = Callable[[Sequence[Any], Mapping[str, Any]], "UsageError | None"]
_OWN = f"{_PACKAGE}."


def _names(error: Exception, wrong: Exception) -> bool:
    """Tells whether an error of ours names the parameter that is wrong."""
    name = str(wrong).partition("=")[0]
    return isinstance(error, EllmerError) and re.search(rf"\b{re.escape(name)}\b", str(error)) is not None


CO_VARARGS, CO_VARKEYWORDS, CO_COROUTINE = 4, 8, 128  # of `inspect`, which is not imported


def caller(depth: int) -> Any:
    """Returns the frame that called, `depth` frames up, without those of `spelt()`."""
    frame = sys._getframe(depth + 1)  # noqa: SLF001 - the one way to know one's caller
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return frame


def _better(
    error: Exception, function: Callable[..., Any], name: str, kwargs: Mapping[str, Any]
) -> TypeError | None:
    """Returns the error for a call with a wrong keyword, or `None` if `error` is another one. What lacks a value (`UsageError`) may
    have got it under a wrong name.
    """
    told = isinstance(error, TypeError) and re.search(
        r"got an unexpected keyword argument|missing \d+ required ", str(error)
    )
    if hasattr(error, "__notes__") or not (told or isinstance(error, UsageError)):
        return _too_many(error, function, name)
    known, any_name = _keywords(function)
    unknown = [each for each in kwargs if each not in known]
    return wrong_keyword(unknown[0], name, known) if unknown and (told or not any_name) else None


def _too_many(error: Exception, function: Callable[..., Any], name: str) -> TypeError | None:
    """Returns the error for a call with too many arguments without names, or `None` if `error` is another one."""
    if not re.match(rf"[\w.]*\b{re.escape(function.__name__)}\(\) takes .* positional argument", str(error)):
        return None
    known = ", ".join(f"`{each}=`" for each in _keywords(function)[0])
    return TypeError(
        f"{name}() has too many arguments; " + (f"name them: {known}." if known else "it takes none.")
    )


def _keywords(function: Callable[..., Any]) -> tuple[list[str], bool]:
    """Returns the names of a function's parameters, with its options and without those that have no name for a caller, and whether it
    takes any others.
    """
    import inspect  # noqa: PLC0415 - only for mistakes, as below

    unnamed = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    )
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind not in unnamed and each.name != "self"]
    if options := _options(function):
        return [*dict.fromkeys([*names, *options.__annotations__])], False
    return names, any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)


def _options(function: Any) -> Any:
    """Returns the class of `**options: Unpack[…]`, or `None`."""
    written = map(str, function.__annotations__.values())
    name = next((each[7:-1] for each in written if each.startswith("Unpack[")), "")
    return function.__globals__.get(name)


def spell_out(function: Any) -> None:
    """Gives a function with `**options: Unpack[Options]` the signature and the docstring with each of the options, for `help()` and for
    editors that run the code. Type checkers read `Unpack[Options]`. The module of `Options` has their `DEFAULTS`.
    """
    from inspect import Parameter, cleandoc, signature  # noqa: PLC0415 - only for functions that somebody uses

    options = _options(function)
    told = f"options: The keyword arguments of `{options.__name__}`." if options else ""
    if hasattr(function, "__signature__") or not told or told not in (function.__doc__ or ""):
        return
    plain, defaults = signature(function), vars(sys.modules[options.__module__])["DEFAULTS"]
    own = [p for p in plain.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    listed = [
        Parameter(n, Parameter.KEYWORD_ONLY, default=defaults.get(n), annotation=t.__forward_arg__)
        for n, t in options.__annotations__.items()
        if n not in plain.parameters
    ]
    function.__signature__ = plain.replace(parameters=[*own, *listed])
    said = cleandoc(options.__doc__).partition("Args:\n")[2].partition("\n\nExamples:")[0]
    function.__doc__ = cleandoc(function.__doc__).replace(told, said.strip())


# --- wrong types -----------------------------------------------------------------------------------------


def _checks(function: Any, of: str) -> Wrong:
    """Returns a function that finds the first argument of a call with another type than its parameter. The types of a parameter are read
    when it is first given a value, and a value whose type was accepted before costs one look-up.
    """
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    unnamed = positional[: code.co_posonlyargcount]  # such a name is free for `**properties`
    accepted: set[tuple[str, type]] = set()
    hint_of = cache(partial(_hint, function))

    def wrong(args: Sequence[Any], kwargs: Mapping[str, Any]) -> UsageError | None:
        for name, value in (*zip(positional, args, strict=False), *kwargs.items()):
            if (name, type(value)) in accepted or (name in unnamed and name in kwargs):
                continue
            hint = hint_of(name)
            if not _may_be(value, hint):
                return UsageError(f"{name}= of {of}() must be {_described(hint)}, not {quoted(value, name)}.")
            if not any(part in str(hint) for part in _OF_VALUES):
                accepted.add((name, type(value)))
        return None

    return wrong


def unfit(kind: Any, values: Mapping[str, Any]) -> Exception | None:
    """Returns the error for the first value that a class does not take as the argument of this name, or `None`."""
    made = getattr(kind.__init__, "__wrapped__", kind.__init__)
    known, _ = _keywords(made)
    unknown = [name for name in values if name not in known]
    return (
        wrong_keyword(unknown[0], kind.__name__, known)
        if unknown
        else _checks(made, kind.__name__)((), values)
    )


def _hint(function: Any, name: str) -> Any:
    """Returns the type of a parameter, or `Any` if it has none that is known when a program runs."""
    from types import SimpleNamespace  # noqa: PLC0415 - each parameter needs it once

    code, written, scope = function.__code__, function.__annotations__, function.__globals__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if name not in names:  # one of `**options: Unpack[Options]`
        options = _options(function)
        written = getattr(options, "__annotations__", {})
        scope = vars(sys.modules[options.__module__]) if options else scope
    hints = SimpleNamespace(__annotations__={name: written.get(name, Any)})
    imported: dict[str, Any] = {}  # for type checkers only: the names of ours are public, the others Python's
    while True:
        try:
            return get_type_hints(hints, scope, imported)[name]
        except NameError as error:
            unknown = str(error.name)
            modules = map(import_module, (_PACKAGE, "typing", "collections.abc", "pathlib"))
            found = (getattr(module, unknown, None) for module in modules)
            imported[unknown] = next(filter(None, found), sys.modules.get(unknown, Any))
        except Exception:  # noqa: BLE001 - what it names is not there
            return Any


def _may_be(value: Any, hint: Any) -> bool:
    """Tells whether a value may be of a type. In doubt, it may."""
    kind = get_origin(hint) or hint
    if kind in _UNIONS:
        return any(_may_be(value, each) for each in get_args(hint))
    if kind is Literal:
        return any(value is each or (isinstance(value, str) and value == each) for each in get_args(hint))
    if kind in _METHODS:
        return hasattr(value, _METHODS[kind]) and takes(value, _arity(hint))
    with suppress(TypeError):  # the type is only for type checkers
        return isinstance(value, kind) and not (isinstance(value, str) and kind in _SERIES)
    return True


def _arity(hint: Any) -> int | None:
    """Returns the number of arguments of a function's type; `None` if it is not such a type, or accepts any number."""
    arguments = next(iter(get_args(hint)), None)
    return len(arguments) if isinstance(arguments, list) else None


def takes(function: Any, count: int | None) -> bool:
    """Tells whether a function may be called with so many arguments."""
    import inspect  # noqa: PLC0415 - only where a function is given

    try:
        signature = inspect.signature(function) if count is not None else None
    except (TypeError, ValueError):  # it has none that can be read
        return True
    with suppress(TypeError):
        return signature is None or bool(signature.bind(*[None] * (count or 0)))
    return False


#: Parts of types that a value's own type does not decide about.
_OF_VALUES = ("Literal[", "Callable[[")
#: Types by the method that their values have; numbers may be those of numpy.
_METHODS = {float: "__float__", int: "__index__", Callable: "__call__"}
#: A string is not one of these: its letters are hardly meant.
_SERIES = (Iterable, Sequence, Collection)
_UNIONS = (Union, UnionType)


def _described(hint: Any) -> str:
    """Returns a type in words: `str, a path or None`."""
    words = list(dict.fromkeys(_words(hint)))
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


_WORDS = {
    "NoneType": "None",
    "Callable": "a function",
    **dict.fromkeys(("Path", "PathLike"), "a path"),
    **dict.fromkeys(("Iterable", "Sequence", "Collection"), "a list"),
    "Mapping": "a dictionary",
}


def _words(hint: Any) -> list[str]:
    if get_origin(hint) in _UNIONS:
        return [word for each in get_args(hint) for word in _words(each)]
    if get_origin(hint) is Literal:
        return [f'"{value}"' if isinstance(value, str) else str(value) for value in get_args(hint)]
    name = getattr(get_origin(hint) or hint, "__name__", str(hint))
    arguments = {0: " without arguments", 1: " of one argument", None: ""}
    count = _arity(hint) if name == "Callable" else None
    return [_WORDS.get(name, name) + arguments.get(count, f" of {count} arguments")]


def quoted(value: Any, parameter: str = "") -> str:
    """Returns a wrong value and its type, in words for an error. A parameter's name tells whether the value may be a key."""
    import inspect  # noqa: PLC0415 - only for mistakes

    kind = type(value).__name__
    may_have_a_key = re.search(
        r"(^|_)(auth|key|token|secret|password|cookies?|credentials|headers|env|proxy|url|server)$", parameter
    )
    if may_have_a_key and not (callable(value) or isinstance(value, int | float | None)):
        return f"a value of type {kind}"
    try:
        named = inspect.isfunction(value)
        return f"{value.__name__}{inspect.signature(value)}" if named else f"{value!r:.60} ({kind})"
    except Exception:  # noqa: BLE001 - a value that cannot be printed is wrong, too
        return f"a {kind}"


# --- wrong types of fields -------------------------------------------------------------------------------


#: The types that are checked, by the annotation of the field.
_NONE = type(None)
KINDS: dict[str, Any] = {  # tuples: `isinstance()` takes a third of the time of a union
    "str": str,
    "Mapping[str, Any]": (dict, Mapping),
    "bool": bool,
    "tuple[ContentCitation, ...]": (tuple, list),
    "str | None": (str, _NONE),
    "int | None": (int, _NONE),
    "float | None": (int, float, _NONE),
}


def misfit(value: object) -> str:
    """Returns a sentence about the first field whose value has a wrong type, or `""`."""
    cls: Any = type(value)
    for name, kinds, kind in _kinds(cls):
        if not isinstance(field := getattr(value, name), kinds):
            return f"{cls.__name__}.{name} is {type(field).__name__}, not {kind}"
    return ""


@cache
def _kinds(cls: Any) -> list[tuple[str, Any, str]]:
    """Returns the names of the fields that are checked, with their types and the words for these."""
    named = [(f.name, str(f.type)) for f in fields(cls)]
    return [(name, KINDS[kind], kind.partition("[")[0]) for name, kind in named if kind in KINDS]
