"""Tells random values from words and placeholders."""

from __future__ import annotations

import math
import re
from base64 import b64decode, urlsafe_b64decode
from collections import Counter
from urllib.parse import unquote

LEAST = 16  # no key of a service has fewer characters
_RANDOM = 3.2  # bits a character; words and placeholders stay below, keys of any alphabet above
_RANDOM_HEX = 2.8  # sixteen hex digits have 3.2 on average
_HEX = re.compile(r"[0-9a-f]{16,32}|[0-9A-F]{16,32}")
_WORD = 9  # letters
_LETTERS = 24  # letters of one case without a break: no word, if they are different enough
_PLACEHOLDER = re.compile(
    r"(?ix) ^[<\[{($%] | [>\]})]$ | ^(.)\1*$ | [*•]{3} | x{6} | \.\.\. | …"
    r"| invalid[-_ ]?(?:api|key|token|secret|passw|credential) | [a-z]1234567890 | ^0123456789 | 123456789 | abcdefghij | abc123 | ^(?:x-amz-|aws4-)[a-z0-9-]+$ | =<[a-z][\w-]*>"
    r"| redacted|masked|filtered|scrubbed|hidden|removed|dummy|fake|placeholder|example|sample|change.?me|unknown|sanitized|deadbeef|dec0ded"
    r"| ^(?:your|my|the|an?|some|enter|insert|test|this|sk|bad|wrong|incorrect)[-_\s.]"
    r"| ^(?:string|str|text|null|none|true|false|boolean|object|undefined|required|optional|invalid|wrong|default)$"
    r"| ^(?:pass|passw|password|passwd|secret|token|hunter2|test|user|value|input|field|auto|login|credentials?)\d?$"
    r"| ^(?:api|access|private|secret|client|auth|bearer)[-_ ]?(?:key|token|secret|request)\d?$"
    r"| ^(?:my|test|demo|sample|dummy|fake)(?:pass|passw|passwd|pwd|password|secret|token|key)\d{0,3}$"
    r"| ^(?:sha-?\d{1,3}|md5|s?crypt|bcrypt|argon2\w*|pbkdf2[\w-]*|hmac-sha-?\d+|base64(?:-windows)?)$"  # how a value is hashed
)
_BASE64 = re.compile(r"([A-Za-z0-9+/]{16,32})={0,2}")
_ADDRESS = re.compile(rb"\d{1,3}(?:\.\d{1,3}){3}:\d{1,5}")
_TYPED = re.compile(r"(?i)example(?:key)?$|invalid[-_]?(?:api|key|token)|[a-z]1234567890|abcdefghij")
_STATE = re.compile(r"(?i)(?:no|not|none)(?:[ _-][a-z]{1,20}){1,4}")  # `Not Present`, `not_set`
_ROLE_OF_PASSWORD = re.compile(
    r"(?:[A-Za-z]{1,20}\d{0,2}[_-]){1,4}(?i:password|passwd|passphrase|pwd)"
)  # `links_password`, `ENV-cloud9_password`
_POSITION = re.compile(
    r"(?:next|prev|previous|page|cursor|offset)[:=]"
)  # in a list: `next:landsat-c2-l2:LC09_…`
_VERSION = re.compile(r"[A-Za-z][\w-]{0,40}/\d{1,4}(?:\.\d{1,4}){1,3}")  # of a program: `raven-ruby/3.1.2`
_SLUG = re.compile(r"(?:[a-z]+|[A-Z]+|\d{1,4})(?:[_-](?:[a-z]+|[A-Z]+|\d{1,4}))+")
_VOWELS = re.compile(r"[aeiouyAEIOUY]")
_ID_AND = re.compile(
    r"[a-z]{2,5}_\w{14,60}_secret_(?=\w)"
)  # the id before what was drawn, in Stripe's `pi_…_secret_…`
_JWT = re.compile(r"(?<![\w-])(eyJ[\w-]{8,4000})\.(eyJ[\w-]{8,4000})\.", re.ASCII)
_IN_EXAMPLES = re.compile(rb"John Doe|sanitized|redacted|example_?key")
_SCOPE = re.compile(r"\A(?:Credential=)?([^/]*)/\d{8}/[\w-]+/[\w-]+/aws4_request\Z")  # behind a key of AWS
_SENTENCE = re.compile(r"\s\S*[.?!:]$|\n|(?<!\S)(?:\S+\s+){8}")


def random(text: str) -> bool:
    """Tells whether a text looks random: it has many different characters, and not only the letters of words."""
    if " " in text or text.isdigit():
        return False
    plain = text in (text.lower(), text.upper()) and not re.search(r"\d", text)
    if plain and not (len(text) >= _LETTERS and text.isalpha()):
        return False
    counts, size = Counter(text), len(text)
    bits = -sum(n / size * math.log2(n / size) for n in counts.values())
    least = _RANDOM_HEX if _HEX.fullmatch(text) else _RANDOM
    return bits >= (_RANDOM + 0.4 if plain else least)


def drawn(value: str) -> bool:
    """Tells whether a value is long and random enough for a credential, and is not the name of one."""
    plain = _ID_AND.sub("", _SCOPE.sub(r"\1", unquote(value)), count=1)
    drawn = len(plain) >= LEAST and random(plain) and not _code(plain) and not is_placeholder(plain)
    typed = drawn and (_is_slug(plain) or names_its_role(plain) or _ROLE_OF_PASSWORD.fullmatch(plain))
    named = typed or (
        drawn and (_POSITION.match(plain) or _VERSION.fullmatch(plain) or _is_numbered_name(plain))
    )
    return drawn and not (named or _is_address(plain) or _is_documented(plain) or _is_coded_sentence(plain))


def password(text: str) -> bool:
    """Tells whether a value may be a chosen password, in a field for passwords. A short word of letters may
    be anything.
    """
    word = text.isalpha() and text in (text.lower(), text.upper())
    return len(text) >= (_WORD if word else 4) and not (
        text.isspace() or text[0] == "/" or is_typed(text) or _STATE.fullmatch(text)
    )


def is_placeholder(text: str) -> bool:
    """Tells whether a text is a placeholder or describes a value: `<PASSWORD>`, `your-key`, `string`, a
    sentence.
    """
    return bool(_PLACEHOLDER.search(text) or _SENTENCE.search(text))


def is_typed(text: str) -> bool:
    """Tells whether a text is a placeholder, or says that it is a password: `links_password`."""
    return is_placeholder(text) or bool(_ROLE_OF_PASSWORD.fullmatch(text))


#: The words of passwords that everybody tries first, of those that programs are delivered with, and of those that a test makes up.
_TRIED = (
    "pass passwd password passw word pwd secret login user username name admin administrator root toor guest demo test testing"
    " tester hack change letmein let qwerty qwertz azerty asdf zxcv foo bar baz qux welcome hello world monkey dragon master"
    " smartvm raspberry calvin ubnt minio it nimda zabbix nagios grafana elastic rabbitmq cisco oracle tiger scott"
    " default docker postgres mysql redis vagrant jenkins tomcat rails rspec cucumber pytest development dev staging sandbox local"
    " localhost integration super open sesame my me the this is a in not no real valid invalid wrong bad good fake dummy mock stub"
    " sample example token key api here your some any abc abcd abcdef xyz temp tmp replace pk sk client very secure strong"
)
_LONGEST_FIRST = "|".join(sorted(_TRIED.split(), key=len, reverse=True))
_GUESSED = re.compile(rf"(?i)(?>(?:[\W\d_]*+(?>{_LONGEST_FIRST}))+)[\W\d_]{{0,5}}")
_AS_DIGITS = str.maketrans("013457@$", "oieastas")
_LEET = re.compile(r"(?<=[A-Za-z])[013457@$]{1,3}(?=[A-Za-z])")
_ROWS = ("01234567890123456789", "98765432109876543210")


def is_guessed(text: str) -> bool:
    """Tells whether a password consists of words that everybody tries first, `Passw0rd1!`, or is a row of digits. It protects nothing.

    Args:
        text: A password.

    Examples:
        >>> is_guessed("hackme"), is_guessed("S3cret123"), is_guessed("12345678"), is_guessed("tr0ub4dor")
        (True, True, True, False)
    """
    return any(text in row for row in _ROWS) or (
        len(text) <= _LONGEST_GUESS and bool(_GUESSED.fullmatch(in_letters(text)))
    )


def in_letters(text: str) -> str:
    """Returns a text with the letters for which digits and marks stand.

    Args:
        text: A password.

    Examples:
        >>> in_letters("my_s3cr3t_7")
        'my_secret_7'
    """
    return _LEET.sub(lambda found: found[0].translate(_AS_DIGITS), text)


_LONGEST_GUESS = 40


def made_of_words(text: str) -> bool:
    """Tells whether a text consists of words, such as the name of a model: `claude-sonnet-4-5-20250929`. In random text, few
    neighbouring letters have the same case.
    """
    words = [*map(len, _WORDS.findall(text))]
    return bool(words) and sum(words) >= 3 * len(words) and max(words) < _LETTERS


_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_TYPED_WORDS = re.compile(r"(?>(?:[a-z]+|[A-Z](?:[a-z]+|[A-Z]+)|[_.:\s-]+)+)\d{0,4}")
_ROLE = re.compile(
    r"(?i)(?:\A|[^a-z])(?:secret|token|key|session|password|passwd|cookie|o?auth|credentials?|login)(?![a-z])"
)


def names_its_role(text: str) -> bool:
    """Tells whether a value consists of words, and one of them says what the value is for: `od_client_secret`, `OAUTH_TOKEN_123`."""
    apart = any(mark in text for mark in "_-. :")
    return apart and bool(_ROLE.search(text) and _TYPED_WORDS.fullmatch(text)) and made_of_words(text)


def pretended(key: str) -> bool:
    """Tells whether a key of a known form was typed by hand: `sk-invalid-key`, `AKIATEST1234567890AB`. Chance makes no such row."""
    return bool(_TYPED.search(key)) or _is_documented(key) or _is_title(key) or _is_embedded(key)


def _is_embedded(key: str) -> bool:
    """Tells whether this is the address of a report of Power BI in a page. It begins like a key of Grafana."""
    plain = key.rstrip("=") if key.startswith("eyJrIjoi") else ""
    return b'","t":"' in urlsafe_b64decode(plain[: len(plain) // 4 * 4])


def _is_title(text: str) -> bool:
    """Tells whether a text is a title in a URL, such as `sk-hynix-to-spend-90-billion`: most of it are words in small letters."""
    words = [part for part in text.split("-") if len(part) > 2 and part.isalpha() and part.islower()]
    return len(words) > 3 and sum(map(len, words)) * 2 > len(text) and all(map(_VOWELS.search, words))


def _is_documented(token: str) -> bool:
    """Tells whether a JSON web token has a placeholder in it: `sanitized_key_id`, or the John Doe of the documentation."""
    found = _JWT.search(token)
    parts = found.group(1, 2) if found else ()
    texts = (urlsafe_b64decode(f"{part[: len(part) // 4 * 4]}") for part in parts)
    return any(_IN_EXAMPLES.search(text) for text in texts)


def _is_slug(text: str) -> bool:
    """Tells whether a text consists of words and small numbers, as in `ups_3_day_select`. The words of a drawn key are all of one length,
    or some have no vowel.
    """
    words = (
        [part for part in re.split("[_-]", text) if len(part) > 2 and part.isalpha()]
        if _SLUG.fullmatch(text)
        else []
    )
    different = len({*map(len, words)}) > 1 and sum(map(len, words)) * 2 > len(text)
    return different and all(map(_VOWELS.search, words))


def _is_numbered_name(text: str) -> bool:
    """Tells whether a text is words with a long number behind them, `TestGetAccountReturnsOK1678702274`. Chance spreads the digits."""
    return bool(_NUMBERED_NAME.fullmatch(text)) and made_of_words(text)


_NUMBERED_NAME = re.compile(r"[A-Za-z]{16,}\d{6,}")


def _is_coded_sentence(text: str) -> bool:
    """Tells whether a text is words in Base64, `nice try` or `testsecret`, and none of them a credential."""
    coded = _WHOLE_BASE64.fullmatch(text)
    said = b64decode(text).decode("latin-1") if coded and len(text) % 4 == 0 else ""
    if not (said and said.isascii() and said.isprintable()):
        return False
    is_sentence = " " in said and not any(map(drawn, re.split(r"[\s:=,;]+", said)))
    return is_sentence or is_guessed(said)


_WHOLE_BASE64 = re.compile(r"[A-Za-z0-9+/]{14,400}={0,2}")


def _is_address(text: str) -> bool:
    """Tells whether a text is an address in Base64, `10.0.0.1:80`. Balancers name their servers in this way."""
    coded = _BASE64.fullmatch(text)
    return bool(coded and len(coded[1]) % 4 != 1 and _ADDRESS.fullmatch(b64decode(f"{coded[1]}==")))


def _code(text: str) -> bool:
    """Tells whether a value without digits is an identifier: `settings.DATABASE_PASSWORD`,
    `getPasswordOfUser`.
    """
    if re.search(r"\d", text) or (text.isalpha() and text in (text.lower(), text.upper())):
        return False
    humps, capitals = len(re.findall(r"[a-z][A-Z]", text)), sum(map(str.isupper, text))
    return humps * 5 < len(text) and (not text.isalpha() or capitals * 10 < len(text) * 3)
