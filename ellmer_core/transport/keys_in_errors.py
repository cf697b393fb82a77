"""What an error shows of a key although the key itself is not in it: parts, masked forms, and other encodings.

The error is read as its letters and digits alone, with escaped letters unescaped. So a key is found whatever separates or escapes its
letters: `s k - p r o j`, `73:6b:2d`, `\\163\\153`, `["s", "k"]`. A run of Base64, Base32 or numbers is decoded, and read in the same way.
All of it takes time in proportion to the error. Of answers without an error it reads only those that may quote a key.
"""

from __future__ import annotations

import re
import sys
from base64 import b32encode, b64decode, b64encode, urlsafe_b64encode
from bisect import bisect, bisect_left
from codecs import encode
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import accumulate, compress
from typing import NamedTuple
from unicodedata import normalize

from .character_codes import in_numbers
from .key_forms import HIDDEN, readable, written_forms

__all__ = ["HIDDEN", "hidden_in_answer", "hidden_traces"]

PART = 10  # letters and digits that are a part of a key wherever they stand
PIECE = 6  # characters that are a piece of a key if they are a word
EDGE = 4  # the same at the key's beginning and end, and beside a mask
TOLD = 2  # letters of the secret that a part must have
SHOWN = 8  # characters of a key's beginning or end that are replaced in answers; beside a mask, 4
GRAM = 4  # letters; a part contains one of the text's grams, which are compared as numbers of this many bytes
GRAM_IN_HEXADECIMAL = 8  # the same of a part in hexadecimal
SHORTEST = 3  # characters of a piece beside a mask
SHORT = 1_000  # characters of a text that is remembered
LONGEST = 16  # characters of a word that are looked up before it is compared with the keys
LINE = 64  # characters of a word that may go on in the next one of its length
LAYERS = 2  # encodings inside of each other
UNESCAPED = 3  # the same, of single letters

_MARKS = bytes(code for code in range(128) if not chr(code).isalnum())
#: A letter: in JSON, Python, C, a URL, quoted-printable, HTML; also escaped again. It begins with a set of letters, which is found fast.
_ESCAPED = re.compile(
    r"""[\\%=&0](?i:(?<=\\)\\{0,7}+(?:
        u(?P<high>d[89ab][0-9a-f]{2})\\{1,8}u(?P<low>d[c-f][0-9a-f]{2})|(?-i:U)000(?P<wide>[0-9a-f]{5})
        |u\{?(?P<unit>[0-9a-f]{4})\}?|(?:u\{0{0,4}|x)(?P<program>[0-9a-f]{2})\}?|0?(?P<octal>[01][0-7]{2})|(?P<slash>/))
    |(?:(?<=%)(?:25){0,3}|(?<=\b0)x)(?P<url>[0-9a-f]{2})|(?<==)(?P<printable>[2-7][0-9a-f])
    |(?<=&)(?:amp;){0,3}\#(?:x0{0,6}(?P<hex>[1-9a-f][0-9a-f]{1,4}(?=;)|[2-7][0-9a-f])|0{0,6}(?P<decimal>[1-9]\d{1,5}(?=;)|1[012]\d|[3-9]\d));?)""",
    re.VERBOSE,
)
#: Marks that are written with letters: line ends and tabs, and names of marks in HTML.
_NAMED_MARKS = re.compile(r"\\\\{0,7}[nrtbfv]|&(?!amp;)[A-Za-z]{2,8};")
_MASK = re.compile(r"[*•●·…⋯█#]++|\.{2,}+|\[[^\]\s]{0,20}+\]|<[^<>\s]{0,20}+>|(?i:x{4,}+)|[-_]{3,}+")
_RUN = r"[\w\-/+=~]*+(?>(?:\.[\w\-/+=~]++)*)"
_MASKED = re.compile(
    rf"(?<![\w\-/+=~.]){_RUN}(?>(?: ?(?:[*•●·…⋯█#]++|\.{{2,}}+|\[[^\]\s]{{0,20}}+\]|<[^<>\s]{{0,20}}+>) ?{_RUN})+)"
)
_WORDS = re.compile(r"[\w\-]{4,}"), re.compile(r"[\w\-/+=~.]{4,}")
_MASK_IN_WORD = re.compile(r"[.x_-](?:(?<=\.)\.++|(?<=x)x{3,}+|(?<=[_-])[_-]{2,}+)")
#: Base64 or Base32 in one or more lines, also with escaped line ends.
_PACKED = re.compile(
    r"(?<![\w+/-])[\w+/-]{16,}+={0,6}+(?>(?:(?:\r?\n|(?:\\r)?\\n)[\w+/-]++={0,6}+)*)", re.ASCII
)
_PIECES = re.compile(r"[A-Za-z0-9]{16,}")
_LINE_END = re.compile(r"\\[rn]|[\r\n=]")
_IS_LETTER = bytes(code < 128 and chr(code).isalnum() for code in range(256))
_IN_RUNS = bytes(ord("A") if re.match(r"[\w+/-]", chr(code), re.ASCII) else 0 for code in range(256))
_OTHER_BYTES = bytes(range(128)) + b" " * 128
_ROW = re.compile(r"[\w+/-]{4,}+", re.ASCII)
_BEHIND = re.compile(r"[^\w+/=-]{1,8}+(?:\\[nr])?([\w+/-]{1,63}+)", re.ASCII)


_Search = Callable[[str, tuple[str, ...]], list[tuple[int, int]]]


def hidden_traces(text: str, keys: Iterable[str]) -> str:
    """Returns a text of an error without the keys, and without parts, masked forms and encodings of them. Addresses and names of headers
    are the same for each request, so the last short texts are remembered.
    """
    keys = tuple(keys)
    if len(text) < SHORTEST:
        return text
    return _remembered(text, keys) if len(text) <= SHORT else _without_traces(text, keys)


def _without_traces(text: str, keys: tuple[str, ...]) -> str:
    text = _encodings_hidden(text, keys)
    from_behind = _encodings_hidden(text[::-1], keys, (_spans, _in_packed, _in_numbers))
    text = from_behind[::-1].replace(HIDDEN[::-1], HIDDEN)
    for pattern, tells in (_MASKED, _tells_masked), *((words, _tells_word) for words in _WORDS):
        told = {found for found in set(pattern.findall(text)) if tells(found, keys)}
        if told:
            text = pattern.sub(partial(_without, told=told), text)
    return text


_remembered = lru_cache(256)(_without_traces)


def hidden_in_answer(text: str, keys: Iterable[str]) -> str:
    """Returns a text of an answer that may quote a key. Its words stay, unless they are long parts of a key, or masked ones."""
    keys = tuple(keys)
    return _shown(keys).sub(HIDDEN, _encodings_hidden(text, keys))


def _encodings_hidden(text: str, keys: tuple[str, ...], searches: Iterable[_Search] = ()) -> str:
    low = text.lower()
    for form in [form for key in keys for form in _forms(key) if form in low]:
        text = re.sub(re.escape(form), HIDDEN, text, flags=re.IGNORECASE)
    searches = searches or (_spans, _in_packed, _in_escaped_runs, _in_numbers)
    return _cut(text, _apart([span for spans in searches for span in spans(text, keys)]))


@lru_cache(64)
def _forms(key: str) -> tuple[str, ...]:
    """Returns the forms of a key that are replaced as a whole in any case, also with marks at their ends: the longest first."""
    data = key.encode()
    forms = {*written_forms(key), key.replace("/", "\\/"), " ".join(key), data.hex()}
    forms |= {b64encode(data).decode(), urlsafe_b64encode(data).decode(), b32encode(data).decode()}
    forms |= {form.rstrip("=") for form in forms}
    return tuple(sorted({form.lower() for form in forms}, key=len, reverse=True))


@lru_cache(64)
def _shown(keys: tuple[str, ...]) -> re.Pattern[str]:
    """Returns a pattern of the beginnings and ends of keys, also masked."""
    mask = r"(?:[*•●·…⋯█#]|\.{2,}|[xX]{4,}) ?"
    patterns: list[str] = []
    for key in keys:
        rest = rf"[\w\-/+=]{{0,{len(key) + SHOWN}}}"  # not all of an image, which has any four letters
        first, end = len(readable(key)) + EDGE, re.escape(key[-EDGE:])
        patterns += [
            re.escape(key[: max(first, SHOWN)]) + rest,
            re.escape(key[:first]) + rf"{rest}{mask}{rest}",
        ]
        patterns += [rf"{mask}{rest}?{end}(?![\w\-])", re.escape(key[-SHOWN:])]
    return re.compile("|".join(patterns))


def _without(found: re.Match[str], *, told: set[str]) -> str:
    return HIDDEN if found[0] in told else found[0]


def _letters(text: str) -> bytes:
    """Returns the letters and digits of ASCII in a text."""
    return text.encode("ascii", "ignore").translate(None, _MARKS)


def _plain(text: str) -> bool:
    """Tells whether a text can be words, which errors have for other reasons than a key."""
    letters = text.replace("-", "").replace("_", "")
    return not letters or (
        letters.isalpha() and (letters.islower() or letters.istitle() or letters.isupper())
    )


# --- Parts of letters and digits, whatever separates or escapes them -------------------------------------


class _Parts(NamedTuple):
    """The parts of keys. Grams are all short texts in the parts, in lower case, as numbers."""

    any_case: frozenset[bytes]  # those with digits, in lower case
    exact: frozenset[bytes]  # those without
    grams: frozenset[int]
    hexadecimal: frozenset[bytes]
    hexadecimal_grams: frozenset[int]


@lru_cache(64)
def _parts(keys: tuple[str, ...]) -> _Parts:
    found = {part for key in keys for part in _parts_of(key)}
    found |= {part[::-1] for part in found} | {encode(part.decode(), "rot13").encode() for part in found}
    digits = frozenset(part.lower() for part in found if not part.isalpha())
    exact = frozenset(part for part in found if part.isalpha())
    hexadecimal = frozenset(part for key in keys for part in _hexadecimal_parts_of(key))
    return _Parts(
        digits,
        exact,
        _grams({*digits, *exact}, GRAM),
        hexadecimal,
        _grams(hexadecimal, GRAM_IN_HEXADECIMAL),
    )


def _grams(parts: Iterable[bytes], size: int) -> frozenset[int]:
    return frozenset(
        int.from_bytes(part[at : at + size].lower(), sys.byteorder)
        for part in parts
        for at in range(len(part) - size + 1)
    )


def _parts_of(key: str) -> Iterator[bytes]:
    letters = _letters(key)
    first = len(_letters(readable(key))) + TOLD
    for end in range(max(PART, first), len(letters) + 1):
        if not _plain(letters[end - PART : end].decode()):
            yield letters[end - PART : end]


def _hexadecimal_parts_of(key: str) -> Iterator[bytes]:
    for end in range(max(PART, len(readable(key)) + TOLD), len(key) + 1):
        yield key[end - PART : end].encode().hex().encode()


def _found(text: str, parts: _Parts) -> list[tuple[int, int]]:
    """Returns where parts of keys are in the letters and digits of a text."""
    letters = _letters(text)
    low = letters.lower()
    places = _near(low, parts.grams, PART, GRAM)
    found = [(at, at + PART) for at in places if low[at : at + PART] in parts.any_case]
    if parts.exact:
        found += [(at, at + PART) for at in places if letters[at : at + PART] in parts.exact]
    for at in _near(low, parts.hexadecimal_grams, 2 * PART, GRAM_IN_HEXADECIMAL):
        if low[at : at + 2 * PART] in parts.hexadecimal:
            found.append((at, at + 2 * PART))
    return found


def _near(letters: bytes, grams: frozenset[int], length: int, size: int) -> list[int]:
    """Returns the places where a text of this length contains one of the grams of this size."""
    numbers = memoryview(letters)[: len(letters) // size * size].cast("I" if size == 4 else "Q")
    hits = grams.intersection(numbers)
    if not hits:
        return []
    seen, places = 0, list[int]()
    for at in [at for at, number in enumerate(numbers) if number in hits]:
        places += range(max(seen, (at + 1) * size - length), at * size + 1)
        seen = at * size + 1
    return places


def _spans(text: str, keys: tuple[str, ...], *, overlapping: bool = False) -> list[tuple[int, int]]:
    """Returns where parts of the keys begin and end in a text: each part if they may be `overlapping`, or what they cover. `\\n` is read as a
    line end, and as a letter behind a mark.
    """
    marked = _NAMED_MARKS.sub(lambda found: " " * len(found[0]), text)
    readings = [marked] if marked == text else [marked, text]
    return [span for each in readings for span in _spans_of(each, keys, overlapping=overlapping)]


def _spans_of(text: str, keys: tuple[str, ...], *, overlapping: bool) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    parts, texts = _parts(keys), [text if text.isascii() else _folded(text)]
    for _ in range(UNESCAPED):
        found = _found(texts[-1], parts)
        spans += _in_text(found if overlapping else _apart(found), texts)
        if len(texts) > 1:
            spans += _in_escaped(_whole(texts[-1], keys), texts)
        following = _ESCAPED.sub(lambda found: _letter(found[0]), texts[-1])
        if following == texts[-1]:
            break
        texts.append(following)
    return spans


def _whole(text: str, keys: Iterable[str]) -> list[tuple[int, int]]:
    """Returns where the keys are in a text, in any case."""
    low = text.lower()
    if not any(key.lower() in low for key in keys):
        return []
    return [found.span() for key in keys for found in re.finditer(re.escape(key), text, re.IGNORECASE)]


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [text[end:start], HIDDEN]
        end = stop
    return "".join([*pieces, text[end:]])


def _folded(text: str) -> str:
    """Returns the text in which ASCII letters replace the similar letters of other alphabets."""
    folded = {ord(letter): normalize("NFKC", letter) for letter in set(text) if not letter.isascii()}
    return text.translate({code: letter for code, letter in folded.items() if len(letter) == 1})


def _in_text(found: list[tuple[int, int]], texts: list[str]) -> list[tuple[int, int]]:
    """Returns the places in the first text of the values that were found in the letters and digits of the last text."""
    if not found:
        return []
    letters = texts[-1].encode("ascii", "replace").translate(_IS_LETTER)
    places = list(compress(range(len(letters)), letters))
    return _in_escaped([(places[start], places[stop - 1] + 1) for start, stop in found], texts)


def _in_escaped(spans: list[tuple[int, int]], texts: list[str]) -> list[tuple[int, int]]:
    """Returns the places in the first text of the values in the last text, which is the unescaped first text."""
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
    """Returns places in order, with those that overlap as one."""
    apart: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if apart and start <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(stop, apart[-1][1])
        else:
            apart.append((start, stop))
    return apart


@lru_cache(4096)
def _letter(escaped: str) -> str:
    """Returns the letter that is escaped, or that of ASCII which it stands for."""
    found = _ESCAPED.match(f"{escaped};")
    assert found is not None, "it is a match of this pattern"
    kind, code = found.lastgroup or "", found[found.lastgroup or 0]
    if kind == "slash":
        return "/"
    if kind == "low":
        return _folded(chr((int(found["high"], 16) - 0xD800 << 10) + int(code, 16) - 0xDC00 + 0x10000))
    return _folded(chr(int(code, {"decimal": 10, "octal": 8}.get(kind, 16))))


# --- Masks and words -------------------------------------------------------------------------------------


@lru_cache(64)
def _beginnings(keys: tuple[str, ...]) -> frozenset[str]:
    """Returns all texts in the keys, in lower case, and of long ones the beginning."""
    lows = {key.lower() for key in keys}
    sizes = range(SHORTEST, LONGEST + 1)
    return frozenset(
        low[at : at + size] for low in lows for size in sizes for at in range(len(low) - size + 1)
    )


def _tells_masked(text: str, keys: tuple[str, ...]) -> bool:
    """Tells whether a piece beside a mask is of a key: `sk-ab***wxyz`."""
    begin, pieces = _beginnings(keys), {piece.strip() for piece in _MASK.split(text)}
    likely = [piece for piece in pieces if piece[:LONGEST].lower() in begin]
    return any(_beside_mask(piece, key) for piece in likely for key in keys)


def _beside_mask(piece: str, key: str) -> bool:
    return key.startswith(piece) or key.endswith(piece) or (len(piece) >= EDGE and _within(piece, key))


def _tells_word(word: str, keys: tuple[str, ...]) -> bool:
    """Tells whether a word is a piece of a key, or a mask has such a piece: `sk-xxxxxxxx-wxyz`."""
    begin, low = _beginnings(keys), word.lower()
    if _MASK_IN_WORD.search(low):
        return any(
            len(piece) >= EDGE and _within(piece, key)
            for piece in _MASK.split(word)
            if piece[:LONGEST].lower() in begin
            for key in keys
        )
    if low[:LONGEST] not in begin and low.strip(".=-")[:LONGEST] not in begin:
        return False
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


class _Code(NamedTuple):
    """A way to write bytes in letters."""

    runs: re.Pattern[str]  # the whole of a run that may be written so
    bits: int  # that a letter has
    phases: int  # letters with which a group may begin
    apart: str  # letters between runs: they are bytes that are no ASCII
    decode: Callable[[str], bytes]


_STANDARD = str.maketrans("-_", "+/")
_DIGITS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHIJKLMNOPQRSTUV")


def _base64(letters: str) -> bytes:
    return b64decode(letters[: len(letters) // 4 * 4].translate(_STANDARD))


def _hexadecimal(letters: str) -> bytes:
    return bytes.fromhex(letters[: len(letters) // 2 * 2])


def _base32(letters: str) -> bytes:
    return _extended_base32(letters.upper().translate(_DIGITS))


def _extended_base32(letters: str) -> bytes:
    groups = len(letters) // 8
    return int(letters[: 8 * groups] or "0", 32).to_bytes(5 * groups, "big")  # base64.b32decode is slow


_CODES = (
    _Code(re.compile(r"[\w+/-]+", re.ASCII), 6, 4, "/" * 8, _base64),
    _Code(re.compile(r"[0-9a-fA-F]+"), 4, 2, "f" * 4, _hexadecimal),
    _Code(re.compile(r"[A-Z2-7]+|[a-z2-7]+"), 5, 8, "7" * 16, _base32),
    _Code(re.compile(r"[0-9A-V]+|[0-9a-v]+"), 5, 8, "V" * 16, _extended_base32),
)

_BITS = max(code.bits for code in _CODES)


def _in_packed(text: str, keys: tuple[str, ...], layers: int = LAYERS) -> list[tuple[int, int]]:
    """Returns where Base64, Base32 or hexadecimal has a part of a key in it: cut off, over several lines, in pieces, escaped before, or
    encoded twice. All runs of a text are decoded at once, because there may be many.
    """
    shortest = _shortest(keys)
    if len(text) * _BITS < 8 * shortest:
        return []
    runs, letters = _packed_runs(text)
    rows = _rows(text)
    told: set[tuple[int, int]] = set()
    for code in _CODES if letters or rows else ():
        read = [([runs[place]], run) for place, run in letters if code.runs.fullmatch(run)]
        for row in rows:
            words = [span for span in row if code.runs.fullmatch(text, *span)]  # no other words of a sentence
            read.append((words, "".join([text[slice(*span)] for span in words])))
        read = [(words, run) for words, run in read if len(run) * code.bits >= 8 * shortest]
        for each, start, stop in _in_code(code, [run for _, run in read], keys, layers) if read else ():
            words = read[each][0]
            if len(words) > 1:
                words = _with_rest(text, code, _between(words, start, stop), keys, layers)
            told.update(words)
    return sorted(told)


def _between(words: list[tuple[int, int]], start: int, stop: int) -> list[tuple[int, int]]:
    """Returns those of several words that have a letter between two places in all of them."""
    ends = [*accumulate(stop - start for start, stop in words)]
    return words[bisect(ends, start) : bisect_left(ends, stop) + 1]


def _with_rest(
    text: str, code: _Code, words: list[tuple[int, int]], keys: tuple[str, ...], layers: int
) -> list[tuple[int, int]]:
    """Returns words that are a key in pieces, and the shorter one behind them if it has the rest of the key."""
    start, stop = words[-1]
    behind = _BEHIND.match(text, stop)
    if behind is None or len(behind[1]) >= stop - start or not code.runs.fullmatch(behind[1]):
        return words
    begun = "".join([text[slice(*span)] for span in words])
    found = _in_code(code, [begun + behind[1] + code.apart], keys, layers)
    return [*words, behind.span(1)] if any(end > len(begun) for _, _, end in found) else words


def _shortest(keys: tuple[str, ...]) -> int:
    """Returns the characters of the shortest text that is looked for: a part of a key, or a whole one."""
    return min(PART, *map(len, keys)) if keys else PART


def _packed_runs(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, str]]]:
    """Returns the places of long runs, and the ways to read each, with its number."""
    if b"A" * 16 not in text.encode("ascii", "replace").translate(_IN_RUNS):  # most texts have no run
        return [], []
    runs = [found.span() for found in _PACKED.finditer(text)]
    letters = [(place, _LINE_END.sub("", text[start:stop])) for place, (start, stop) in enumerate(runs)]
    for place, run in letters[
        :
    ]:  # a number beside a word, in a path, in groups, or after an escaped line end
        start, stop = runs[place]
        escaped = text[start - 1 : start] == "\\"
        words = _LINE_END.sub(" ", text[start + escaped : stop])
        pieces = _PIECES.findall(words) + (_PIECES.findall(words.replace("-", "")) if "-" in words else [])
        letters += [(place, piece) for piece in pieces if piece != run]
    return runs, letters


def _rows(text: str) -> list[list[tuple[int, int]]]:
    """Returns the places of words of one length, with the word behind them, which may be Base64 in lines, columns or quotes. A hyphen at the
    end of a word belongs to it, or to the line end.
    """
    found = (each.span() for each in _ROW.finditer(text))
    # Behind an escaped line end, the first letter is the one of the escape.
    words = [(start + (text[start - 1 : start] == "\\"), stop) for start, stop in found]
    whole = [(start, stop - (text[stop - 1] == "-")) for start, stop in words]
    return _of_one_length(words) + (_of_one_length(whole) if whole != words else [])


def _of_one_length(words: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    rows: dict[int, list[int]] = {}
    for at, (start, stop) in enumerate(words):
        if stop - start < LINE:
            rows.setdefault(stop - start, []).append(at)
    return [
        [words[at] for at in row] + words[row[-1] + 1 : row[-1] + 2] for row in rows.values() if len(row) > 1
    ]


def _in_escaped_runs(text: str, keys: tuple[str, ...]) -> list[tuple[int, int]]:
    """Returns where Base64, Base32 or hexadecimal of which each letter is escaped has a part of a key in it."""
    spans, texts = list[tuple[int, int]](), [text]
    for _ in range(LAYERS):
        texts.append(_ESCAPED.sub(lambda found: _letter(found[0]), texts[-1]))
        if texts[-1] == texts[-2]:
            break
        spans += _in_escaped(_in_packed(texts[-1], keys), texts)
    return spans


def _in_code(code: _Code, runs: list[str], keys: tuple[str, ...], layers: int) -> set[tuple[int, int, int]]:
    """Returns the numbers of the runs that contain a part of a key, and where it begins and ends. Each phase decodes all of them, from
    another letter on.
    """
    joined, told = code.apart.join(runs), set[tuple[int, int, int]]()
    starts = list(accumulate((len(run) + len(code.apart) for run in runs), initial=0))
    for phase in range(min(code.phases, len(joined))):
        inner = code.decode(joined[phase:]).translate(_OTHER_BYTES).decode("ascii")
        spans = _spans(inner, keys, overlapping=True)
        spans += [
            (found.start(), found.end()) for key in keys for found in re.finditer(re.escape(key), inner)
        ]
        spans += _in_packed(inner, keys, layers - 1) if layers > 1 else []
        for start, stop in spans:
            first, last = phase + start * 8 // code.bits, phase + (stop * 8 - 1) // code.bits
            run = bisect(starts, first) - 1
            if run == bisect(starts, last) - 1:  # not in two runs
                told.add((run, first - starts[run], last - starts[run] + 1))
    return told


def _in_numbers(text: str, keys: tuple[str, ...]) -> list[tuple[int, int]]:
    """Returns where numbers are the letters of a part of a key: decimal, octal, binary or hexadecimal."""
    return [
        (each.starts[start], each.ends[stop - 1])
        for each in in_numbers(text)
        for start, stop in _spans(each.text, keys, overlapping=True)
    ]
