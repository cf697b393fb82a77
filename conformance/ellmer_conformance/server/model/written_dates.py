"""Dates and times of day in a text. The model has no clock: for it, today is January 1, 2026."""

from __future__ import annotations

import re
from datetime import date, timedelta

TODAY = date(2026, 1, 1)
_MONTHS = {
    word: number
    for words in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    )
    for number, word in enumerate(words.split(), 1)
}
_DAYS = {
    word: number
    for words in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
    )
    for number, word in enumerate(words.split())
}
WEEKDAYS = frozenset(_DAYS) | frozenset(_MONTHS) - {"may", "march", "mars", "janeiro"}
_LATER = {
    "today": 0, "tonight": 0, "heute": 0, "aujourd'hui": 0, "hoy": 0, "oggi": 0, "hoje": 0, "今日": 0, "今天": 0, "오늘": 0, "اليوم": 0,
    "tomorrow": 1, "morgen": 1, "demain": 1, "mañana": 1, "domani": 1, "amanhã": 1, "明日": 1, "明天": 1, "내일": 1, "غدا": 1, "завтра": 1,
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ISO = r"(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})(?!\d)"
_EAST = r"(?:(?P<year>\d{4})\s?[年년]\s?)?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일号]"
_MONTH_FIRST = rf"\b(?P<name>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:|\s?[ap]m\b)(?:,? (?P<year>\d{{4}})\b)?"
_DAY_FIRST = rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)? (?:of |de )?(?P<name>{_MONTH})\b\.?(?:,? (?:de )?(?P<year>\d{{4}})\b)?"
_DOTTED = r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})\b"
_SLASHED = r"(?<![\d/])(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})\b"
_WEEKDAY = rf"\b(?P<weekday>{'|'.join(_DAYS)})\b"
_RELATIVE = rf"(?<![\w“\"])(?P<later>{'|'.join(_LATER)})(?![a-zA-Z])"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (_ISO, _EAST, _MONTH_FIRST, _DAY_FIRST, _DOTTED, _SLASHED, _WEEKDAY, _RELATIVE)
)
_DIGIT = re.compile(r"\d")
_CLOCK = re.compile(
    r"(?<![\d:.-])([01]?\d|2[0-3]):([0-5]\d)(?: ?([ap])\.?m\b)?(?!\d)|(?<![\d:.])(1[0-2]|[1-9]) ?([ap])\.?m\b"
    r"|(?<![\d:.])([01]?\d|2[0-3])\s?(?:Uhr|h\b|時|点|點|시)\s?([0-5]\d)?",
    re.IGNORECASE,
)
#: What is no number although it has digits.
DATED = re.compile(
    "|".join(re.sub(r"\?P<\w+>", "?:", form.pattern) for form in (*_FORMS[:6], _CLOCK)), re.IGNORECASE
)


def dates_in(text: str) -> list[str]:
    """Returns the dates of a text in their order. A date without a year is in 2026.

    Examples:
        >>> dates_in("from May 3 to 5 de mayo de 2027, not tomorrow")
        ['2026-05-03', '2027-05-05', '2026-01-02']
    """
    found: list[tuple[int, int, str]] = []
    for form in _FORMS if _DIGIT.search(text) else _FORMS[6:]:
        for each in form.finditer(text):
            free = all(each.end() <= start or each.start() >= end for start, end, _ in found)
            if free and (value := _iso(each)):
                found.append((*each.span(), value))
    return [value for _, _, value in sorted(found)]


def clocks_in(text: str) -> list[str]:
    """Returns the times of day of a text, as `17:30:00`.

    Examples:
        >>> clocks_in("from 9am to 10:30 and at 15 Uhr")
        ['09:00:00', '10:30:00', '15:00:00']
    """
    return [_time(*each.groups()) for each in _CLOCK.finditer(text)]


def _time(*parts: str | None) -> str:
    hour24, minutes, half, hour12, half12, hour, more = parts
    number = int(hour24 or hour12 or hour or 0)
    if half := half or half12:
        number = number % 12 + (12 if half.lower() == "p" else 0)
    return f"{number:02}:{minutes or more or '00'}:00"


def _iso(found: re.Match[str]) -> str:
    """Returns a date as 2026-12-24, or an empty text if there is no such day."""
    parts = {name: value for name, value in found.groupdict().items() if value}
    if later := parts.get("later"):
        return "" if later == "Morgen" else str(TODAY + timedelta(_LATER[later.lower()]))
    if weekday := parts.get("weekday"):
        return str(TODAY + timedelta((_DAYS[weekday.lower()] - TODAY.weekday() - 1) % 7 + 1))
    name = parts.get("name", "")
    if name and "year" not in parts and not name[0].isupper() and name.lower() in {"may", "march", "mars"}:
        return ""
    month = _MONTHS[name.lower()] if name else int(parts["month"])
    day = int(parts["day"])
    if month > 12 >= day:
        month, day = day, month
    try:
        return str(date(int(parts.get("year", TODAY.year)), month, day))
    except ValueError:
        return ""
