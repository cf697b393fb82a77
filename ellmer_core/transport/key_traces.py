"""What an error shows of a key although the key itself is not in it: parts, masked forms, and other encodings.

The error is read as its letters and digits alone, with escaped letters unescaped. So a key is found whatever separates or escapes its
letters: `s k - p r o j`, `73:6b:2d`, `\\163\\153`, `["s", "k"]`. A run of Base64, Base32 or numbers is decoded, and read in the same way.
All of it takes time in proportion to the error. Of answers without an error it reads only those that may quote a key.
"""

from __future__ import annotations

import re
from base64 import b32decode, b32encode, b64decode, b64encode, urlsafe_b64encode
from codecs import encode
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import quote

__all__ = ["HIDDEN", "hidden_in_answer", "hidden_traces", "readable", "written_forms"]

HIDDEN = "[key]"
PART = 10  # letters and digits that are a part of a key wherever they stand
PIECE = 6  # characters that are a piece of a key if they are a word
EDGE = 4  # the same at the key's beginning and end, and beside a mask
TOLD = 2  # letters of the secret that a part must have
SHOWN = 8  # characters of a key's beginning or end that are replaced in answers; beside a mask, 4
GRAM = PART // 2  # a part contains one of the aligned grams of the text around it
LAYERS = 2  # encodings inside of each other
UNESCAPED = 3  # the same, of single letters

_LETTERS = re.compile(r"[^\W_]", re.ASCII)
_MARKS = bytes(code for code in range(128) if not chr(code).isalnum())
_ESCAPED = re.compile(  # a letter: in JSON, Python, C, a URL, quoted-printable, HTML; also escaped again
    r"""\\{1,8}u(?P<high>d[89ab][0-9a-f]{2})\\{1,8}u(?P<low>d[c-f][0-9a-f]{2})|\\{1,8}u\{?(?P<unit>[0-9a-f]{4})\}?
    |\\{1,8}(?:u\{0{0,4}|U000000|x)(?P<program>[0-9a-f]{2})\}?|\\{1,8}0?(?P<octal>[01][0-7]{2})|\\{1,8}(?P<slash>/)
    |(?:%(?:25){0,3}|\b0x)(?P<url>[0-9a-f]{2})|=(?P<printable>[2-7][0-9a-f])
    |&(?:amp;){0,3}\#(?:x0{0,6}(?P<hex>[1-9a-f][0-9a-f]{1,4}(?=;)|[2-7][0-9a-f])|0{0,6}(?P<decimal>[1-9]\d{1,5}(?=;)|1[012]\d|[3-9]\d));?""",
    re.IGNORECASE | re.VERBOSE,
)
_READABLE = re.compile(r"(?:[A-Za-z]+\d{0,2}[-_.])*+")
_LINES_IN_JSON = re.compile(r"\\{1,8}[nrtbfv]")
_MASK = re.compile(r"[*•●·…⋯█#]++|\.{2,}+|\[[^\]\s]{0,20}+\]|<[^<>\s]{0,20}+>|(?i:x{4,}+)|[-_]{3,}+")
_RUN = r"[\w\-/+=~]*+(?:\.[\w\-/+=~]++)*+"
_MASKED = re.compile(
    rf"(?<![\w\-/+=~.]){_RUN}(?: ?(?:[*•●·…⋯█#]++|\.{{2,}}+|\[[^\]\s]{{0,20}}+\]|<[^<>\s]{{0,20}}+>) ?{_RUN})++"
)
_WORDS = re.compile(r"[\w\-]{4,}"), re.compile(r"[\w\-/+=~.]{4,}")
#: Base64 or Base32 in one or more lines, also with escaped line ends.
_PACKED = re.compile(r"(?<![\w+/-])[\w+/-]{16,}+={0,6}+(?:(?:\r?\n|(?:\\r)?\\n)[\w+/-]++={0,6}+)*+", re.ASCII)
_LINE_END = re.compile(r"\\[rn]|[\r\n=]")
_HEX32 = str.maketrans("0123456789ABCDEFGHIJKLMNOPQRSTUV", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
_OTHER_BYTES = bytes(range(128)) + b" " * 128
_NUMBERS = re.compile(r"(?<![\w.])\d{2,8}+(?:[\s,;:|.'\"\\-]{1,4}+\d{2,8}+){9,}+", re.ASCII)


def readable(key: str) -> str:
    """Returns the beginning of a key that says whose it is, as `sk-proj-`. It is not secret."""
    found = _READABLE.match(key)
    return found[0] if found else ""


def hidden_traces(text: str, keys: Iterable[str]) -> str:
    """Returns a text of an error without the keys, and without parts, masked forms and encodings of them."""
    keys = tuple(keys)
    text = _encodings_hidden(text, keys)
    text = _MASKED.sub(partial(_without, tells=_tells_masked, keys=keys), text)
    for words in _WORDS:
        text = words.sub(partial(_without, tells=_tells_word, keys=keys), text)
    return text


def hidden_in_answer(text: str, keys: Iterable[str]) -> str:
    """Returns a text of an answer that may quote a key. Its words stay, unless they are long parts of a key, or masked ones."""
    keys = tuple(keys)
    return _shown(keys).sub(HIDDEN, _encodings_hidden(text, keys))


def _encodings_hidden(text: str, keys: tuple[str, ...]) -> str:
    for key in keys:
        for form in _forms(key):
            text = text.replace(form, HIDDEN)
    text = _cut(text, _spans(text, keys))
    for runs, tells in (_PACKED, _tells_packed), (_NUMBERS, _tells_numbers):
        text = runs.sub(partial(_without, tells=tells, keys=keys), text)
    return text


def written_forms(key: str) -> tuple[str, ...]:
    """Returns a key as it is, backwards, in ROT13, and percent-encoded once and twice."""
    percent = quote(key, safe="")
    return key, key[::-1], encode(key, "rot13"), percent, quote(percent, safe="")


@lru_cache(64)
def _forms(key: str) -> tuple[str, ...]:
    """Returns the forms of a key that are replaced as a whole, also with marks at their ends: the longest first."""
    data = key.encode()
    forms = {*written_forms(key), key.upper(), key.lower(), key.replace("/", "\\/"), " ".join(key)}
    forms |= {data.hex(), data.hex().upper()}
    forms |= {b64encode(data).decode(), urlsafe_b64encode(data).decode(), b32encode(data).decode()}
    forms |= {re.sub("%..", lambda found: found[0].lower(), quote(key, safe=""))}
    return tuple(sorted(forms, key=len, reverse=True))


@lru_cache(64)
def _shown(keys: tuple[str, ...]) -> re.Pattern[str]:
    """Returns a pattern of the beginnings and ends of keys, also masked."""
    mask, rest = r"(?:[*•●·…⋯█#]|\.{2,}|[xX]{4,}) ?", r"[\w\-/+=]*"
    patterns: list[str] = []
    for key in keys:
        first, end = len(readable(key)) + EDGE, re.escape(key[-EDGE:])
        patterns += [
            re.escape(key[: max(first, SHOWN)]) + rest,
            re.escape(key[:first]) + rf"{rest}{mask}{rest}",
        ]
        patterns += [rf"{mask}[\w\-/+=]*?{end}(?![\w\-])", re.escape(key[-SHOWN:])]
    return re.compile("|".join(patterns))


def _without(
    found: re.Match[str], *, tells: Callable[[str, tuple[str, ...]], bool], keys: tuple[str, ...]
) -> str:
    return HIDDEN if tells(found[0], keys) else found[0]


def _letters(text: str) -> str:
    """Returns the letters and digits of ASCII in a text."""
    return text.encode("ascii", "ignore").translate(None, _MARKS).decode()


def _plain(text: str) -> bool:
    """Tells whether a text can be words, which errors have for other reasons than a key."""
    letters = text.replace("-", "").replace("_", "")
    return not letters or (
        letters.isalpha() and (letters.islower() or letters.istitle() or letters.isupper())
    )


# --- Parts of letters and digits, whatever separates or escapes them -------------------------------------


class _Parts(NamedTuple):
    """The parts of keys. Grams are all texts of half the length in the parts, in lower case."""

    any_case: frozenset[str]  # those with digits, in lower case
    exact: frozenset[str]  # those without
    grams: frozenset[str]
    hexadecimal: frozenset[str]
    hexadecimal_grams: frozenset[str]


@lru_cache(64)
def _parts(keys: tuple[str, ...]) -> _Parts:
    found = {part for key in keys for part in _parts_of(key)}
    found |= {part[::-1] for part in found} | {encode(part, "rot13") for part in found}
    digits = frozenset(part.lower() for part in found if not part.isalpha())
    exact = frozenset(part for part in found if part.isalpha())
    hexadecimal = frozenset(part for key in keys for part in _hexadecimal_parts_of(key))
    return _Parts(digits, exact, _grams({*digits, *exact}), hexadecimal, _grams(hexadecimal))


def _grams(parts: Iterable[str]) -> frozenset[str]:
    return frozenset(part[at : at + GRAM].lower() for part in parts for at in range(len(part) - GRAM + 1))


def _parts_of(key: str) -> Iterator[str]:
    letters = _letters(key)
    first = len(_letters(readable(key))) + TOLD
    for end in range(max(PART, first), len(letters) + 1):
        if not _plain(letters[end - PART : end]):
            yield letters[end - PART : end]


def _hexadecimal_parts_of(key: str) -> Iterator[str]:
    for end in range(max(PART, len(readable(key)) + TOLD), len(key) + 1):
        yield key[end - PART : end].encode().hex()


def _found(text: str, parts: _Parts) -> Iterator[tuple[int, int]]:
    """Yields where parts of keys are in the letters and digits of a text."""
    letters = _letters(text)
    low = letters.lower()
    for at in _near(low, parts.grams, PART):
        if low[at : at + PART] in parts.any_case or letters[at : at + PART] in parts.exact:
            yield at, at + PART
    for at in _near(low, parts.hexadecimal_grams, 2 * PART):
        if low[at : at + 2 * PART] in parts.hexadecimal:
            yield at, at + 2 * PART


def _near(letters: str, grams: frozenset[str], length: int) -> Iterator[int]:
    """Yields the places where a text of this length contains one of the grams."""
    seen, places = 0, range(0, len(letters) - GRAM + 1, GRAM)
    if grams.isdisjoint([letters[at : at + GRAM] for at in places]):
        return
    for at in places:
        if letters[at : at + GRAM] in grams:
            yield from range(max(seen, at + GRAM - length), at + 1)
            seen = at + 1


def _spans(text: str, keys: tuple[str, ...]) -> list[tuple[int, int]]:
    """Returns where parts of the keys begin and end in a text, in order and apart."""
    spans: list[tuple[int, int]] = []
    parts, texts = _parts(keys), [_LINES_IN_JSON.sub(lambda found: " " * len(found[0]), text)]
    if not text.isascii():
        texts[0] = _folded(texts[0])
    for _ in range(UNESCAPED):
        spans += _in_text(list(_found(texts[-1], parts)), texts)
        if len(texts) > 1:
            spans += _in_escaped(_whole(texts[-1], keys), texts)
        following = _ESCAPED.sub(_letter, texts[-1])
        if following == texts[-1]:
            break
        texts.append(following)
    return _apart(sorted(spans))


def _whole(text: str, keys: Iterable[str]) -> list[tuple[int, int]]:
    """Returns where the keys are in a text, in any case."""
    return [found.span() for key in keys for found in re.finditer(re.escape(key), text, re.IGNORECASE)]


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [text[end:start], HIDDEN]
        end = stop
    return "".join([*pieces, text[end:]])


def _folded(text: str) -> str:
    """Returns the text with each letter of another alphabet that stands for a letter of ASCII as that letter."""
    return "".join(folded if len(folded := normalize("NFKC", letter)) == 1 else letter for letter in text)


def _in_text(found: list[tuple[int, int]], texts: list[str]) -> list[tuple[int, int]]:
    """Returns the places in the first text of what was found in the letters and digits of the last one."""
    if not found:
        return []
    places = [letter.start() for letter in _LETTERS.finditer(texts[-1])]
    return _in_escaped([(places[start], places[stop - 1] + 1) for start, stop in found], texts)


def _in_escaped(spans: list[tuple[int, int]], texts: list[str]) -> list[tuple[int, int]]:
    """Returns the places in the first text of what is in the last one, which was unescaped from it."""
    for text in reversed(texts[:-1]) if spans else ():
        places = _places(text)
        spans = [(places[start], places[stop]) for start, stop in spans]
    return spans


def _places(text: str) -> list[int]:
    """Returns where each letter of the unescaped text begins in the text, and its end."""
    places: list[int] = []
    end = 0
    for found in _ESCAPED.finditer(text):
        places += [*range(end, found.start()), found.start()]
        end = found.end()
    return [*places, *range(end, len(text) + 1)]


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    apart: list[tuple[int, int]] = []
    for start, stop in spans:
        if apart and start <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(stop, apart[-1][1])
        else:
            apart.append((start, stop))
    return apart


def _letter(found: re.Match[str]) -> str:
    """Returns the letter that is escaped, or that of ASCII which it stands for."""
    kind, code = found.lastgroup or "", found[found.lastgroup or 0]
    if kind == "slash":
        return "/"
    if kind == "low":
        return _folded(chr((int(found["high"], 16) - 0xD800 << 10) + int(code, 16) - 0xDC00 + 0x10000))
    return _folded(chr(int(code, {"decimal": 10, "octal": 8}.get(kind, 16))))


# --- Masks and words -------------------------------------------------------------------------------------


def _tells_masked(text: str, keys: tuple[str, ...]) -> bool:
    """Tells whether a piece beside a mask is of a key: `sk-ab***wxyz`."""
    pieces = [piece.strip() for piece in _MASK.split(text)]
    return any(_beside_mask(piece, key) for piece in pieces if len(piece) >= 3 for key in keys)


def _beside_mask(piece: str, key: str) -> bool:
    return key.startswith(piece) or key.endswith(piece) or (len(piece) >= EDGE and _within(piece, key))


def _tells_word(word: str, keys: tuple[str, ...]) -> bool:
    """Tells whether a word is a piece of a key, or a mask has such a piece: `sk-xxxxxxxx-wxyz`."""
    pieces = _MASK.split(word)
    if len(pieces) > 1:
        return any(len(piece) >= EDGE and _within(piece, key) for piece in pieces for key in keys)
    return any(_is_piece(word.strip(".=-"), key) or _is_piece(word, key) for key in keys)


def _is_piece(word: str, key: str) -> bool:
    if len(word) >= PIECE:
        return _within(word, key)
    return len(word) >= EDGE and _within(word, key) and (key.endswith(word) or _secret(key).startswith(word))


def _within(piece: str, key: str) -> bool:
    """Tells whether a piece has letters of the secret of a key, and is neither words nor a number."""
    if piece.isdigit() or _plain(piece):
        return False
    if any(letter.isdigit() for letter in piece):
        piece, key = piece.lower(), key.lower()
    place = key.rfind(piece)
    return place >= 0 and place + len(piece) - len(readable(key)) >= min(EDGE, len(piece))


def _secret(key: str) -> str:
    return key.removeprefix(readable(key))


# --- Encodings -------------------------------------------------------------------------------------------


def _tells_packed(run: str, keys: tuple[str, ...], layers: int = LAYERS) -> bool:
    """Tells whether Base64 or Base32 has a part of a key in it: cut off, over several lines, escaped before, or encoded twice."""
    return any(
        _spans(inner, keys)
        or any(key in inner for key in keys)
        or (layers > 1 and any(_tells_packed(each[0], keys, layers - 1) for each in _PACKED.finditer(inner)))
        for inner in _unpacked(_LINE_END.sub("", run))
    )


def _unpacked(letters: str) -> Iterator[str]:
    """Yields what a run of letters says in Base64, Base32 and hexadecimal, from each letter with which a group may begin."""
    standard = letters.replace("-", "+").replace("_", "/")
    for start in range(4):
        yield _ascii(b64decode(standard[start : start + (len(letters) - start) // 4 * 4]))
    if re.fullmatch("[0-9a-fA-F]+", letters):
        for start in range(2):
            yield _ascii(bytes.fromhex(letters[start : start + (len(letters) - start) // 2 * 2]))
    capitals = letters.upper()
    if letters not in {capitals, letters.lower()}:
        return
    for each in (capitals, capitals.translate(_HEX32)):
        if not re.fullmatch("[A-Z2-7]*", each):
            continue
        for start in range(8):
            yield _ascii(b32decode(each[start : start + (len(each) - start) // 8 * 8]))


def _ascii(data: bytes) -> str:
    return data.translate(_OTHER_BYTES).decode("ascii")


def _tells_numbers(run: str, keys: tuple[str, ...]) -> bool:
    """Tells whether numbers are the letters of a part of a key: decimal, octal or binary."""
    numbers = re.findall(r"\d+", run)
    for base in (10, 8, 2):
        digits = "0123456789"[:base]
        codes = [int(each, base) for each in numbers if not each.strip(digits)]
        if _spans("".join(chr(code) for code in codes if code < 128), keys):
            return True
    return False
