"""The values in a text of the user: names, numbers, dates, files, quoted passages. Each is used once."""

# ruff: noqa: SIM905 - the words are easier to read in lines
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

_TOKEN = re.compile(r"\w(?:[\w'’-]*\w)?")
_STATE = re.compile(r", (?=[A-Z]{2}\b)")  # Duluth, MN
_QUOTED = re.compile(r"[\"“«]([^\"”»]{1,400})[\"”»]|(?<!\w)'([^']{1,400})'(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:[.,]\d+)*(?![\w])")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join(f"{month}|{month[:3]}" for month in _MONTHS)
_WRITTEN_DATE = re.compile(
    rf"\b(?:(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)? (?P<month2>{_MONTH})\.?)"
    r",? (?P<year>\d{4})\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b|\b(1[0-2]|[1-9]) ?([ap])m\b", re.IGNORECASE)
_COUNTS = {
    word: number for number, word in enumerate("two three four five six seven eight nine ten".split(), 2)
}
_COUNT_WORD = re.compile(rf"\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_URL = re.compile(r"https?://[^\s\"'<>)]+")
_FILE = re.compile(
    r"(?<![\w@/\\.:~-])(?:[A-Za-z]:)?(?:[\w~.-]+[/\\]|[/\\])*[\w-]+\.[A-Za-z]\w{1,7}\b(?![/@])"
)
_SENTENCE_END = re.compile(r"[.!?:;\n]\s*$")
_AFTER = r"\b(?:{})\s+(?:the\s+)?(\w[\w'’-]*)"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_HISSES = re.compile(r"(?:[sxz]|ch|sh)es$")
_MOST = 20_000  # characters that are read
_SHORT = 2000  # characters of a text whose words are kept
_LONG_WORD = 40  # characters of a word that has no ending to take off
_NEAR = 50  # characters before a word that tell whether a sentence begins with it

#: Words that begin a sentence with a capital letter and are no names.
_STARTERS = frozenset(
    "a about add all also am an and any are as ask at be book buy calculate call can cancel check choose compare compute "
    "convert copy could count create current delete describe did do does draw each email explain extract fetch fill "
    "find first for from generate get give go good has have hello help her hey hi his how i i'm if in invite is it its just "
    "let list look make may me multiply my name next no not now of ok on one open or order our paint pick please plot print "
    "put read remove repeat reply return roll run say schedule search select send set she should show solve some start sum "
    "summarise summarize take tell thanks that the their them then there these they this to today tomorrow translate "
    "try turn update use was we were what what's when where which who whose why will with would write yes you your "
    # the same in other languages, where a question begins with them
    "wie was wo wann wer warum welche welcher welches ist gibt zeige sag quel quelle quels que quoi où quand est donne dis "
    "qué cuál cuándo dónde cómo como es hay dime che qual quanto dove com'è hoe wat waar is какая какой какое сколько где".split()
)
#: Words that do something, and so tell which tool is meant.
_VERBS = frozenset(
    "add book buy calculate cancel compare compute convert copy count create delete describe draw email extract generate "
    "list multiply name order paint plot print read remove roll schedule search select send solve sum summarise summarize "
    "translate update".split()
)
#: Words without a meaning of their own, in questions and in the names of tools.
_EMPTY = (_STARTERS - _VERBS) | frozenset(
    "been being but by colour color had into know like more most much need out over so something than tool tools up "
    "user using value values very want wants function result results given returns gets looks into".split()
)
_SAME = {
    word: words.split()[0]
    for words in (
        "weather forecast temperature warm cold hot rain raining rainy sunny snow degree",
        "weather wetter météo meteo temps tiempo clima погода weer pogoda",  # in other languages
        "time clock hour oclock",
        "date day calendar",
        "draw paint picture image sketch photo illustration",
        "sum add plus total addition",
        "multiply times product",
        "calculate compute calculator math arithmetic",
        "search lookup google",
        "mail email message",
        "price cost",
        "flight fly plane",
        "chart plot graph bar",
        "summary summarise summarize",
    )
    for word in words.split()
}


def content_words(text: str) -> frozenset[str]:
    """Returns the words of a text that carry its meaning, without endings, and with one word for several of a kind. Those of
    short texts are kept: each request repeats the names and descriptions of its tools.
    """
    return _content_words(text) if len(text) < _SHORT else _content_words.__wrapped__(text)


@lru_cache(1024)
def _content_words(text: str) -> frozenset[str]:
    spaced = _HUMP.sub(" ", text[:_MOST]).replace("_", " ").replace("-", " ").lower()
    words = [word for word in _TOKEN.findall(spaced) if word not in _EMPTY and len(word) > 1]
    stems = [_stem(word) if len(word) < _LONG_WORD else word for word in words]
    return frozenset([_SAME.get(stem, stem) for stem in stems])


@lru_cache(8192)
def _stem(word: str) -> str:
    """Returns a word without an ending, in a form of the groups above if one has it."""
    word = word.removesuffix("'s").removesuffix("’s")
    stems = [word.removesuffix(ending) for ending in ("s", "es", "ed", "ing") if word.endswith(ending)]
    for stem in stems:
        if stem in _SAME:
            return stem
    if word in _SAME or not stems or word.endswith("ss") or len(stems[-1]) < 3:
        return word
    return stems[0] if word.endswith("s") and not _HISSES.search(word) else stems[-1]


class UserWords:
    """The values of a text, in their order. A value that was taken is not offered again."""

    def __init__(self, text: str, ignored: Iterable[str] = ()) -> None:
        self.text = text[:_MOST].strip()
        self._ignored = {word.lower() for word in ignored}

    @cached_property
    def names(self) -> list[str]:
        """The groups of words with capital letters."""
        return self._found_names()

    @cached_property
    def numbers(self) -> list[float]:
        """The numbers that are not part of a date."""
        plain = _CLOCK.sub(" ", _WRITTEN_DATE.sub(" ", _DATE.sub(" ", self.text)))
        written = [float(_COUNTS[word.lower()]) for word in _COUNT_WORD.findall(plain)]
        return [_number(match[0]) for match in _NUMBER.finditer(plain)] + written

    @cached_property
    def quotes(self) -> list[str]:
        """The passages in quotation marks."""
        return [first or second for first, second in _QUOTED.findall(self.text)]

    @cached_property
    def dates(self) -> list[str]:
        """The dates with a year, a month and a day, as `2026-12-24`."""
        written = [(match.start(), _iso(match)) for match in _WRITTEN_DATE.finditer(self.text)]
        return [
            text
            for _, text in sorted(
                [*written, *((each.start(), each[0]) for each in _DATE.finditer(self.text))]
            )
        ]

    @property
    def clock(self) -> str | None:
        """The first time of day, as `17:30:00`."""
        found = _CLOCK.search(self.text)
        if not found:
            return None
        hour = int(found[1] or found[3])
        if found[4]:
            hour = hour % 12 + (12 if found[4].lower() == "p" else 0)
        return f"{hour:02}:{found[2] or '00'}:00"

    @cached_property
    def emails(self) -> list[str]:
        """The addresses of mail."""
        return _EMAIL.findall(self.text)

    @cached_property
    def urls(self) -> list[str]:
        """The URLs."""
        return [url.rstrip(".,;") for url in _URL.findall(self.text)]

    @cached_property
    def files(self) -> list[str]:
        """The names of files and their paths."""
        return _FILE.findall(_EMAIL.sub(" ", _URL.sub(" ", self.text)))

    def name_after(self, *words: str) -> str | None:
        """Takes the name after one of the words, as in `from Paris`, or else a small word there, as in `in paris`."""
        places = _after(words).findall(self.text)
        for name in self.names:
            if any(name.split(" ")[0].rstrip(",") == place for place in places):
                self.names.remove(name)
                return name
        small = [place for place in places if place.islower() and place not in _EMPTY]
        return small[0] if small and not self.names else None

    def take(self, values: list[str]) -> str | None:
        """Takes the first of the values."""
        return values.pop(0) if values else None

    def number(self, *, whole: bool, accepts: Sequence[float | None]) -> float | None:
        """Takes the first number that is in the range and, if asked for, whole."""
        least, most = accepts
        for number in self.numbers:
            fits = (least is None or number >= least) and (most is None or number <= most)
            if fits and (not whole or number == int(number)):
                self.numbers.remove(number)
                return number
        return None

    def _found_names(self) -> list[str]:
        """Returns the groups of words with capital letters, without the words that only begin a sentence."""
        text = self.text
        for pattern in (_URL, _EMAIL, _QUOTED, _WRITTEN_DATE):
            text = pattern.sub(lambda found: "#" * len(found[0]), text)
        tokens = list(_TOKEN.finditer(text))
        capital = [token for token in tokens if self._is_name(token)]
        groups: list[list[re.Match[str]]] = []
        for token in capital:
            gap = self.text[groups[-1][-1].end() : token.start()] if groups else None
            if gap in {" ", "/"} or (gap == ", " and _STATE.match(self.text, token.start() - 2)):
                groups[-1].append(token)
            else:
                groups.append([token])
        return [self.text[group[0].start() : group[-1].end()].removesuffix("'s") for group in groups]

    def _is_name(self, token: re.Match[str]) -> bool:
        word = token[0]
        low = word.lower()
        if not word[0].isupper() or low in _STARTERS or low in self._ignored or low == "wetter":
            return False  # the German noun has a capital letter
        before = self.text[max(0, token.start() - _NEAR) : token.start()]
        starts = not before.strip() or _SENTENCE_END.search(before) is not None
        return not starts or _stem(low) not in _SAME


@lru_cache(64)
def _after(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_AFTER.format("|".join(words)), re.IGNORECASE)


def _iso(found: re.Match[str]) -> str:
    """Returns a written date, such as December 24, 2026, as 2026-12-24."""
    month = next(
        n for n, name in enumerate(_MONTHS, 1) if name[:3] == (found["month"] or found["month2"])[:3].lower()
    )
    return f"{found['year']}-{month:02}-{int(found['day'] or found['day2']):02}"


def _number(text: str) -> float:
    plain = text.replace("−", "-")
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    plain = plain.replace(",", ".") if plain.count(",") == 1 and "." not in plain else plain.replace(",", "")
    try:
        number = float(plain)
    except ValueError:  # 1.2.3
        return 0.0
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
