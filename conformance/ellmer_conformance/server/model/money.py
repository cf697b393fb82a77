"""The currencies in a text, by their signs, codes and names, as ISO codes."""

from __future__ import annotations

import re

_NAMES = {
    "USD": r"\$|US\$|USD|(?:us )?dollars?|dólares|dollari|ドル|美元|달러|دولار|долларов|доллары",
    "EUR": r"€|EUR|euros?|ユーロ|欧元|유로|يورو|евро",
    "GBP": r"£|GBP|(?:british )?pounds?(?: sterling)?|libras|pfund|ポンド|英镑|파운드",
    "JPY": r"¥|JPY|yen|円|日元|엔",
    "CNY": r"CNY|RMB|yuan|人民币|人民元",
    "CHF": r"CHF|swiss francs?|(?:schweizer )?franken",
    "CAD": r"CAD|canadian dollars?",
    "AUD": r"AUD|australian dollars?",
    "INR": r"₹|INR|rupees?",
    "KRW": r"₩|KRW|won|韩元|원",
    "MXN": r"MXN|(?:mexican )?pesos?",
    "BRL": r"BRL|reais",
    "SEK": r"SEK|kronor",
    "BTC": r"BTC|bitcoins?",
}
#: In the order of a text: longer names first.
CURRENCY = re.compile(
    "|".join(
        rf"(?P<{code}>(?<![A-Za-z])(?:{names})(?![A-Za-z]))"
        for code, names in sorted(
            _NAMES.items(), key=lambda each: each[0] not in {"CAD", "AUD", "CHF", "MXN"}
        )
    ),
    re.IGNORECASE,
)
#: The words of these names, singular and plural. A text in ASCII has one of them, or a sign.
_WORDS = frozenset(
    word + ending
    for names in _NAMES.values()
    for word in re.findall("[a-z]{3,}", names.replace("?", "").lower())
    for ending in ("", "s", word[:0])
) | {word[:-1] for names in _NAMES.values() for word in re.findall("[a-z]{3,}s(?=[?])", names.lower())}
_WEIGHED = re.compile(r"\b(?:grams?|kilos?|kilograms?|kg|ounces?|lbs?|weigh)\b", re.IGNORECASE)


def currencies_in(text: str) -> list[str]:
    """Returns the currencies of a text in their order, but the one that is asked for (`how many yen`) last.

    Examples:
        >>> currencies_in("Convert $40 to euros"), currencies_in("How many yen are 50 GBP?")
        (['USD', 'EUR'], ['GBP', 'JPY'])
    """
    if text.isascii() and "$" not in text and _WORDS.isdisjoint(re.findall("[a-z]+", text.lower())):
        return []
    found = [(each.lastgroup or "", each.start()) for each in CURRENCY.finditer(text)]
    if _WEIGHED.search(text):
        found = [(code, start) for code, start in found if code != "GBP"]
    codes = list(dict.fromkeys(code for code, start in found if not _is_verb(code, text, start)))
    asked = re.match(r"\W*how many\b|\W*wie viele\b|\W*combien d|\W*cu[aá]nt[oa]s\b", text, re.IGNORECASE)
    return [*codes[1:], codes[0]] if asked and len(codes) > 1 else codes


def is_currency(word: str) -> bool:
    """Tells whether a word is the name or the code of a currency.

    Args:
        word: A word in small letters.
    """
    return CURRENCY.fullmatch(word) is not None and word not in {"won", "real"}


def _is_verb(code: str, text: str, start: int) -> bool:
    """Tells whether a word is the past of *to win* and not the currency."""
    return (
        code == "KRW" and text[start : start + 3].lower() == "won" and not re.search(r"\d\s*$", text[:start])
    )
