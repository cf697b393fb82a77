"""The values in a text of the user: names, numbers, dates, files, quoted passages. Each is used once."""

# ruff: noqa: SIM905 - the words are easier to read in lines
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ellmer_core.base.budget import remembered

from . import written_dates
from .meanings import EMPTY, SIGNS, STARTERS, has_a_meaning, is_foreign, stem
from .money import CURRENCY, is_currency

_TOKEN = re.compile(r"\w(?:[\w'’-]*\w)?")
_REGION = re.compile(
    r", (?=(?:[A-Z]{2}|Argentina|Australia|Austria|Belgium|Brazil|California|Canada|Chile|China|Colombia|Denmark|Egypt|England"
    r"|Finland|Florida|France|Georgia|Germany|Greece|Hungary|India|Indonesia|Ireland|Israel|Italy|Japan|Kenya|Mexico"
    r"|Netherlands|New York|New Zealand|Nigeria|Norway|Ontario|Pakistan|Peru|Philippines|Poland|Portugal|Romania|Russia"
    r"|Scotland|South Africa|South Korea|Spain|Sweden|Switzerland|Texas|Thailand|Turkey|UK|USA|Ukraine|United Kingdom"
    r"|United States|Vietnam|Wales|Washington)\b)"
)  # Duluth, MN
_QUOTED = re.compile(
    r"[\"“„«]([^\"“”»]{1,400})[\"“”»]|(?<!\w)'([^']{1,400})'(?!\w)|[「『]([^」』]{1,400})[」』]|`([^`\n]{1,400})`|‘([^’]{1,400})’(?!\w)"
)
_UNIT = r"(?:[kcmµn]?[mgslLW]|km/h|mph|min|mi|lbs?|oz|ft|in|yd|h|[kKMGT]?i?[bB]|px|[°º]?[CF]|kWh|[kKM]|bn|EUR|USD|GBP|st|nd|rd|th)"
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.])(?:(?<![^\W_])[-−])?\d+(?:[.,]\d+)*(?=(?:{_UNIT})?(?![A-Za-z0-9_]))"
)
_COUNTS = {
    word: number
    for words in (
        "two three four five six seven eight nine ten",
        "zwei drei vier fünf sechs sieben acht neun zehn",
        "deux trois quatre cinq - sept huit - -",
        "dos tres cuatro cinco seis siete ocho nueve diez",
    )
    for number, word in enumerate(words.split(), 2)
    if word != "-"
}
_COUNT_WORD = re.compile(rf"\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b", re.ASCII)
_URL = re.compile(r"https?://[^\s\"'<>)\u3000-\u9fff]+")
_FILE = re.compile(
    r"(?<![\w@/\\.:~-])(?:[A-Za-z]:)?(?:[\w~.-]+[/\\]|[/\\])*[\w-]+\.[A-Za-z]\w{1,7}\b(?![/@])"
    r"|(?<!\S)(?:~|\.{1,2})?/(?:[\w.-]+/?)+"
)
_HANDLE = re.compile(r"(?<!\w)[#@][A-Za-z][\w-]*")
_CODE = re.compile(r"(?<![\w@.-])#?(?=[A-Za-z-]*\d)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w@])")
_SENTENCE_END = re.compile(r"[.!?:;\n]\s*$")
_AFTER = r"(?<!\w)(?:{})\s+(?:(?:the|der|die|das|den|el|la|le|les)\s+)?(\w[\w'’-]*)"
_JOINED = re.compile(r" (?:de|del|de la|da|do|am|van|an der|upon) ")
_SMALL_LIST = re.compile(r"((?:, | and |, and )[a-z]{3,})+")
_LIST = re.compile(r"(\w[\w -]{0,30}(?:, \w[\w -]{0,30}?)*,? (?:and|or|und|et|y) \w+)")
_LISTED = 4000  # characters in which a list is looked for
_NEGATED = r"\b(?:no|not|without|don't|never|ohne|kein|keine|sans|sin|disable|disabled|off)\s+(?:\w+\s+)?"
_PAIR = re.compile(
    rf"(?<![\w$€£.,-])(\d{{1,4}}|(?i:an?|{'|'.join(_COUNTS)}))\s+((?:[a-z]+ )?[a-zà-ÿ]{{3,}})\b(?!\s*@)"
)
_ARABIC_NAME = re.compile(r"(?:في|من|إلى|الى|على)\s+((?:\w+)(?:\s+و\w+)*)")
_HAN = re.compile(r"[\u4e00-\u9fff々]{2,}|[\u30a0-\u30ff]{2,}|[\uac00-\ud7af]{2,}")
_EAST = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_EAST_EMPTY = re.compile(
    r"(?<=\d)[年月日号號時时点點分秒人つ個泊枚円元米]|"
    + "|".join(
        sorted(
            [
                *(sign for sign in SIGNS if len(sign) > 1),
                *(
                    "翻译成 翻譯成 今日 今天 明日 明天 昨日 昨天 现在 現在 今 怎么样 怎麼樣 如何 什么 什麼 多少 几个 教えて 教 知りたい ください 帮我 幫我"
                    " 一下 一张 一個 一个 告诉我 告訴我 我想 我要 最新 어때 오늘 내일 지금 알려줘 그리고 需要 可以 查询 查一下 飞往 公里"
                    " 会議 比べて 比較 設定 设置 预报 预計"
                ).split(),
            ],
            key=lambda word: -len(word),
        )
    )
    + r"|(?<=[\uac00-\ud7af]{2})(?:은|는|이|가|을|를|의|에서|에|와|과|하고|으로|로|까지|부터)(?![\uac00-\ud7af])|[\u3040-\u309f]+"
)
_KANA = re.compile(r"[\u3040-\u30ff]")
_CHINESE_EMPTY = re.compile("[那的和与跟从從到在是把给吗呢了也请請会會有成订訂发發读讀画雨]")
_MOST = 20_000  # characters that are read
_NEAR = 50  # characters before a word that tell whether a sentence begins with it
_SECONDS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86_400}

#: Words that count people, and so name the same number.
_PEOPLE = frozenset(
    "people person guest passenger seat traveller traveler adult personen personas personnes".split()
)


_DIGIT = re.compile(r"\d")

_NEEDS = {_URL: "://", _EMAIL: "@"}


def _hidden(found: re.Match[str]) -> str:
    return "#" * len(found[0])


class Number(NamedTuple):
    """A number of a text, and where it is."""

    value: float
    start: int
    end: int


if TYPE_CHECKING:
    _Values = cached_property  # the checkers know what it returns
else:

    class _Values(cached_property):
        """Values that are found when they are first asked for. Their first state is kept in `originals`."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            found = super().__get__(instance, owner)
            if instance is not None:
                instance.originals[self.attrname] = list(found)
            return found


class UserWords:
    """The values of a text, in their order. A value that was taken is not offered again."""

    def __init__(self, text: str, ignored: Iterable[str] = ()) -> None:
        self.text = text[:_MOST].strip()
        self._ignored = {word.lower() for word in ignored}
        self._small: set[str] = set()
        self.originals: dict[str, list[Any]] = {}

    def used(self, kind: str) -> int:
        """Returns how many values of a kind were taken."""
        return len(self.originals.get(kind, ())) - len(self.__dict__.get(kind, ()))

    def restore(self, but: str) -> None:
        """Offers all values again, but those of one kind, and the options.

        Args:
            but: The kind.
        """
        for kind, found in self.originals.items():
            if kind not in {but, "options"}:
                self.__dict__[kind] = list(found)

    @_Values
    def options(self) -> list[str]:
        """The options of an `enum` that were taken."""
        return []

    @_Values
    def names(self) -> list[str]:
        """The groups of words with capital letters, and the names in scripts that have none."""
        found = self._found_names()
        if not self.text.isascii():
            found += [name for name in self._eastern_names() if name not in found]
        return found

    @_Values
    def numbers(self) -> list[Number]:
        """The numbers that are not part of a date, a file, a URL or an address of mail."""
        plain = self._masked(_URL, _EMAIL, written_dates.DATED)
        found = [
            Number(_multiplied(_number(each[0]), plain[each.end() :]), *each.span())
            for each in _NUMBER.finditer(plain)
        ]
        written = [
            Number(_COUNTS.get(each[0].lower(), 2), *each.span()) for each in _COUNT_WORD.finditer(plain)
        ]
        return sorted([*found, *written], key=lambda number: number.start)

    @_Values
    def quotes(self) -> list[str]:
        """The passages in quotation marks."""
        return ["".join(groups) for groups in _QUOTED.findall(self.text)]

    @_Values
    def dates(self) -> list[str]:
        """The dates with a year, a month and a day, as `2026-12-24`."""
        return written_dates.dates_in(self._masked(_QUOTED))

    @_Values
    def clocks(self) -> list[str]:
        """The times of day, as `17:30:00`."""
        return written_dates.clocks_in(self.text)

    @_Values
    def emails(self) -> list[str]:
        """The email addresses."""
        return _EMAIL.findall(self.text)

    @_Values
    def urls(self) -> list[str]:
        """The URLs."""
        return [url.rstrip(".,;?!") for url in _URL.findall(self.text)]

    @_Values
    def files(self) -> list[str]:
        """The names and paths of files."""
        if "." not in self.text and "/" not in self.text:
            return []
        return [found[0] for found in _FILE.finditer(_EMAIL.sub(" ", _URL.sub(" ", self.text)))]

    @_Values
    def handles(self) -> list[str]:
        """Names of channels and people, such as `#general` and `@ada`."""
        return _HANDLE.findall(self.text)

    def code(self) -> str | None:
        """Returns the first word with digits, such as `A-1234`."""
        plain = self._masked(_URL, _EMAIL, written_dates.DATED)
        found = _CODE.search(plain)
        return found[0].lstrip("#") if found else None

    def pairs(self) -> list[tuple[float, str]]:
        """Returns numbers with the things they count, as in `2 pizzas and three colas`."""
        found = [(each[1].lower(), each[2]) for each in _PAIR.finditer(self.text)]
        known = [(number, thing) for number, thing in found if stem(thing.lower()) not in _SECONDS]
        return [
            (float(_COUNTS.get(number, number if number.isdigit() else 1)), _without_and(thing))
            for number, thing in known
            if number not in {"a", "an"} or len(known) == 1
        ]

    def listed(self) -> list[str]:
        """Returns the members of a list in small letters, as in `red, green and blue`."""
        after_colon = re.search(r":\s+([^\n.?!]+)", self.text)
        found = (
            after_colon[1]
            if after_colon
            else (each[1] if (each := _LIST.search(self.text[:_LISTED])) else "")
        )
        members = [each.strip() for each in re.split(r",\s*(?:and |or )?| and | or | und | et | y ", found)]
        return [
            member.rpartition(" ")[2] if n == 0 and not after_colon else member
            for n, member in enumerate(members)
            if member
        ]

    def name_after(self, *words: str) -> str | None:
        """Takes the name after one of the words, as in `from Paris`, or else a small word there, as in `in paris`."""
        places = [*_after(words).finditer(self.text)]
        for name in self.names:
            if any(name.removeprefix("The ").split(" ")[0].rstrip(",") == place[1] for place in places):
                self.names.remove(name)
                return name
        small = [
            place for place in places if place[1].islower() and place[1].isalpha() and place[1] not in EMPTY
        ]
        small = [place for place in small if not has_a_meaning(place[1]) and place[1] not in _NO_PLACES]
        small = [place for place in small if place[1] not in self._small]
        if not small or self.names:
            return None
        more = _SMALL_LIST.match(self.text, small[0].end())
        rest = re.split(r", and |, | and ", more[0])[1:] if more else []
        self.names += [name for name in rest if name not in EMPTY and name not in self._small]
        self._small |= {small[0][1], *rest}
        second = (
            re.match(r" [a-z]{3,}", self.text[small[0].end(1) :]) if small[0][1] in _FIRST_WORDS else None
        )
        return small[0][1] + (second[0] if second else "")

    @property
    def took_small_words(self) -> bool:
        """Whether a place in small letters was taken."""
        return bool(self._small)

    def take(self, values: list[str]) -> str | None:
        """Takes the first of the values."""
        return values.pop(0) if values else None

    def number(
        self, *, whole: bool, accepts: Sequence[float | None], kept: Iterable[Number] = ()
    ) -> float | None:
        """Takes the first number that is in the range and, if asked for, whole. The `kept` numbers are for others."""
        least, most = accepts
        for number in self.numbers:
            value = number.value
            fits = (least is None or value >= least) and (most is None or value <= most)
            if fits and (not whole or value == int(value)) and number not in kept:
                self.numbers.remove(number)
                return value
        return None

    def number_of(self, hints: frozenset[str]) -> Number | None:
        """Returns the number beside one of the words, as in `4 nights` and `age 35`. It is not taken.

        Args:
            hints: Words without endings.
        """
        return next(
            (
                each
                for near in (self._next_words, self._word_before)
                for each in self.numbers
                if hints & near(each)
            ),
            None,
        )

    def share(self) -> Number | None:
        """Returns the first number in percent. It is not taken."""
        return next(
            (each for each in self.numbers if re.match(r"\s?(?:%|percent)", self.text[each.end :])), None
        )

    def are_listed(self, numbers: Sequence[Number]) -> bool:
        """Tells whether numbers follow each other as in `7, 8 and 9`."""
        gaps = [self.text[first.end : second.start] for first, second in pairwise(numbers)]
        return all(
            re.fullmatch(r"\s*(?:(?:,|、|，|和|と)\s*)?(?:(?:and|or|und|oder|et|ou|y|o|e|и)\s*)?", gap)
            for gap in gaps
        )

    def in_unit(self, number: Number, name: str) -> float:
        """Returns a number in the unit of time that a property is named after: 90 seconds are 1.5 minutes."""
        wanted = next(
            (_SECONDS[part] for part in map(stem, re.split(r"[_\W]+", name.lower())) if part in _SECONDS), 0
        )
        said = next((_SECONDS[word] for word in self._next_words(number, 1) if word in _SECONDS), 0)
        value = number.value * said / wanted if wanted and said else number.value
        return int(value) if value == int(value) else value

    def narrow(self, part: str) -> None:
        """Keeps the names of a part of the text, if it has one, and of these the ones after `in` and its like, if there are.

        Args:
            part: The sentences that the names should come from.
        """
        near = [name for name in self.names if name in part]
        if near and len(near) < len(self.names):
            self.names = near
        told = [name for name in self.names if _IS_PLACE.search(self.text[: self.text.find(name)])]
        while told and (
            more := [name for name in self.names if name not in told and self._follows(name, told)]
        ):
            told += more
        if told:
            self.names = [name for name in self.names if name in told]
        self.originals["names"] = list(self.names)

    def _follows(self, name: str, told: Sequence[str]) -> bool:
        before = self.text[: self.text.find(name)]
        return any(
            re.search(
                rf"{re.escape(other)}\W*(?:and|or|und|et|y|e|и|than|versus|vs\.?|with|to)?\W*(?:in |à |en )?$",
                before,
            )
            for other in told
        )

    def value_after(self, words: frozenset[str]) -> str | None:
        """Takes the quoted passage or the name after one of the words, as in `called "Lunch"` and `label Eggs`."""
        told = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        if not told:
            return None
        found = re.search(
            rf"\b(?:{told})s?\b:?\s+(?:is |as |to |of |the |a )*[\"“'«„]?(\w[\w'’-]*)",
            self.text,
            re.IGNORECASE,
        )
        for values in (self.quotes, self.names):
            for value in values if found else ():
                if found and re.split(r"[^\w'’-]", value)[0] == found[1]:
                    values.remove(value)
                    return value
        return None

    def says(self, words: frozenset[str]) -> bool:
        """Tells whether the text has one of the words and does not deny it."""
        told = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        return not (told and re.search(rf"{_NEGATED}(?:{told})", self.text, re.IGNORECASE))

    def _next_words(self, number: Number, most: int = 2) -> frozenset[str]:
        after = re.match(
            r"[\s°-]*([^\W\d_]+)(?:[\s-]+([^\W\d_]+))?", self.text[number.end : number.end + _NEAR]
        )
        return _hints(each for each in (after.groups()[:most] if after else ()) if each)

    def _word_before(self, number: Number) -> frozenset[str]:
        before = re.search(
            r"([^\W\d_]+)(?:\s+(?:is|of|to|at|=))?[\s:=$€£#]*$",
            self.text[max(0, number.start - _NEAR) : number.start],
        )
        return _hints([before[1]] if before else ())

    def _masked(self, *patterns: re.Pattern[str]) -> str:
        """Returns the text with other characters in place of what the patterns find."""
        text = self.text
        digits = _DIGIT.search(text) is not None
        for pattern in patterns:
            if (digits or pattern is not written_dates.DATED) and _NEEDS.get(pattern, "") in text:
                text = pattern.sub(_hidden, text)
        return text

    def _found_names(self) -> list[str]:
        """Returns the groups of words with capital letters, without the words that only begin a sentence."""
        text = self._masked(_URL, _EMAIL, _QUOTED, _HANDLE, written_dates.DATED)
        for found in _FILE.finditer(text) if "." in text or "/" in text else ():
            text = text[: found.start()] + "#" * len(found[0]) + text[found.end() :]
        tokens = list(_TOKEN.finditer(text))
        capital = [token for token in tokens if self._is_name(token)]
        groups: list[list[re.Match[str]]] = []
        for token in capital:
            gap = self.text[groups[-1][-1].end() : token.start()] if groups else None
            joined = gap is not None and (gap in {" ", "/", "&", " & "} or _JOINED.fullmatch(gap) is not None)
            if joined or (gap == ", " and _REGION.match(self.text, token.start() - 2)):
                groups[-1].append(token)
            else:
                groups.append([token])
        return [
            self.text[group[0].start() : group[-1].end()].removesuffix("'s").removesuffix("’s")
            for group in groups
        ]

    def _is_name(self, token: re.Match[str]) -> bool:
        word = token[0]
        low = word.lower()
        if not word[0].isupper() or low in self._ignored or _is_no_name(low):
            return False
        after = self.text[token.end() : token.end() + 9]
        if len(word) == 1:  # one of "A, B and C"
            listed = self.text[: token.start()].endswith((" and ", " or ", ", ")) and after[:1] != "."
            return listed or re.match(r",|\s+(?:and|or) [A-Z]\b", after) is not None
        if low in _ARTICLES:  # Los Angeles, La Paz
            return re.match(r" [A-Z]", after) is not None
        before = self.text[max(0, token.start() - _NEAR) : token.start()]
        starts = not before.strip(" ¿¡\"'(") or _SENTENCE_END.search(before) is not None
        if _begins_sentences(low):  # a book is called "Book" within a sentence
            return not (starts or word.isupper() or low in _PRONOUNS)
        return not starts or not has_a_meaning(low)

    def _eastern_names(self) -> list[str]:
        """Returns the names of a text in Chinese, Japanese, Korean or Arabic: what is left without the words of questions."""
        found = [
            _arabic(each)
            for group in _ARABIC_NAME.findall(self.text)
            for each in re.split(r"(?<!\s)\s+(?=و)", group)
        ]
        found += re.findall(r"(?<!\S)(\S+) में(?!\w)", self.text)
        if (
            not found
            and (last := re.search(r"([\u0621-\u064a]{3,})\W*$", self.text))
            and not has_a_meaning(last[1])
        ):
            found = [last[1]]
        if not _EAST.search(self.text):
            return found
        text = self._masked(_URL, _EMAIL, _QUOTED, written_dates.DATED)
        text = _EAST_EMPTY.sub(" ", CURRENCY.sub(" ", text))
        return found + _HAN.findall(text if _KANA.search(self.text) else _CHINESE_EMPTY.sub(" ", text))


_FOREIGN_NOUNS = frozenset(
    "wetter uhr flug flüge timer betreff nachricht termin besprechung datei licht bild lied preis zimmer person personen minuten "
    "stunden sekunden tage nächte guten morgen abend euro dollar text jaka jaki celsius fahrenheit kelvin web internet".split()
)
_ARTICLES = frozenset("el la las le les los".split())
#: Words in small letters that begin a name of two words, as in `new york`.
_FIRST_WORDS = frozenset(
    "new san los las saint st hong kuala buenos mexico cape tel abu el la salt santa porto fort great".split()
)
_PRONOUNS = frozenset("i i'm i'd i'll i've".split())
_NO_PLACES = frozenset(
    "it me you him her us them my your this that these those each all degrees celsius fahrenheit english general total "
    "advance detail case order time zip advance stock".split()
)


def _begins_sentences(word: str) -> bool:
    return len(word) > 1 and (word in STARTERS or re.split(r"['’]", word)[0] in STARTERS)


def _is_no_name(word: str) -> bool:
    """Tells whether a word, in small letters, has a capital letter for another reason than that it is a name."""
    if len(word) == 1:
        return False
    dated = word in written_dates.WEEKDAYS
    return dated or is_foreign(word) or word in _FOREIGN_NOUNS or is_currency(word)


def _hints(words: Iterable[str]) -> frozenset[str]:
    """Returns words without endings; those that count people stand for each other."""
    stems = {form for word in words for form in _forms(word.lower())}
    return frozenset(stems | _PEOPLE if stems & _PEOPLE else stems)


@remembered(1024)
def _forms(word: str) -> tuple[str, ...]:
    """Returns a word and what is left of it without each ending, so that `sided` and `sides` have one in common."""
    endings = [word.removesuffix(ending) for ending in ("s", "es", "d", "ed", "ing") if word.endswith(ending)]
    return (word, stem(word), *(form for form in endings if len(form) > 2))


@remembered(1024)
def hints_of(name: str, description: str = "") -> frozenset[str]:
    """Returns the words that name a property of a schema, without endings.

    Args:
        name: The property's name, such as `weight_kg` or `maxResults`.
        description: Its description. Only a short description is used as its name.
    """
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").split()
    short = description.split() if 0 < len(description.split()) <= 4 else []
    words = [part for part in [*parts, *short] if part.isalpha() and part.lower() not in _NO_HINTS]
    words += ["year", "old", "jahre", "ans", "años"] if name.lower() == "age" else []
    words += (
        _MOST_WORDS
        if re.match(r"max", name.lower())
        else _LEAST_WORDS
        if re.match(r"min(?!ute)", name.lower())
        else []
    )
    return _hints(words)


_MOST_WORDS = ["under", "below", "most", "than", "within", "unter", "bis"]
_LEAST_WORDS = ["over", "above", "least", "from", "über", "ab"]
_NO_HINTS = frozenset(
    "number of the a an max min count num total id is in to per for and or value amount from with".split()
)


_IS_PLACE = re.compile(r"(?<!\w)(?:in|at|for|near|en|em|bei|à|в)\s+(?:the\s+)?$", re.IGNORECASE)


def _without_and(thing: str) -> str:
    first, _, second = thing.partition(" ")
    return (
        first
        if not second
        or second in {"and", "to", "in", "at", "for", "from", "with", "on", "of", "or", "by", "per"}
        else thing
    )


def _arabic(name: str) -> str:
    return name.removeprefix("و") if name.startswith("و") and len(name) > 3 else name


@remembered(64)
def _after(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_AFTER.format("|".join(words)), re.IGNORECASE)


_MULTIPLES = (
    (re.compile(r"\s?(?:万|萬|만)"), 10_000),
    (re.compile(r"\s?(?:亿|億|억)"), 100_000_000),
    (re.compile(r"\s?(?:k|thousand|tausend|mille|mil)\b", re.IGNORECASE), 1000),
    (
        re.compile(r"\s?(?:mio\.?|millions?|millionen|millones|milhões|milioni)\b", re.IGNORECASE),
        1_000_000,
    ),
    (re.compile(r"\s?(?:bn|billions?|milliarden?|milliards?)\b", re.IGNORECASE), 1_000_000_000),
)


def _multiplied(number: float, after: str) -> float:
    """Returns a number times the word after it: 2 million, 1.5k, 1400万."""
    factor = next((factor for pattern, factor in _MULTIPLES if pattern.match(after)), 1)
    value = number * factor
    return int(value) if value == int(value) else value


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
