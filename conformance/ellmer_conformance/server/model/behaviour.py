"""The rules of the server's model, in the order in which they are tried.

1. A demanded tool is called. An offered tool is called if its name or description fits the question, once for each thing
   that the question names.
2. A demanded schema is filled.
3. Results of tools, images and documents are described.
4. A question about the conversation is answered from it.
5. A few kinds of text have an answer of their own: greetings, sums, counting, words to repeat. Any other text is quoted.

Then the answer gets reasoning if it was asked for, ends at a stop sequence or at the limit of tokens, and is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import orjson

from ellmer_core.base.budget import remembered

from ...contract import readers
from ...contract.observed.exchange import Item, Json, Request
from ...contract.readers.json_access import object_of
from ...scenarios.messages import Source
from ...scenarios.script import Answer, Call, Run, Said, Say, Search, Show, Think, Usage
from .arithmetic import expression_in, result_of
from .meanings import content_words
from .media_description import colour_of, described
from .media_made import picture, sound
from .request_options import ANY_OBJECT, Options, Tool, options_of
from .schema_values import filled, named_options, takes_a_list, takes_names
from .tool_choice import about, fitting, options_in, sentences_for
from .user_words import UserWords

#: The field that tells the model how many tokens of a request come from a cache. No client can set it.
CACHED_TOKENS = "_cachedContentTokens"
_MOST_CALLS = 8
_MOST_READ = 500_000  # characters of a question; what follows is not read
#: Characters of all answers to a request, with the other words of its log probabilities.
_MOST_WRITTEN = 100_000
_MEDIA_TOKENS = 85  # of an image or a document; https://developers.openai.com/api/docs/guides/images-vision
_TAG = re.compile(r"\s*</?content\b[^>]*>\s*")  # around media of a result that a format cannot hold
_FAILED = re.compile(r"\s*+(?:\W*+error\b|tool calling failed|exception|traceback)", re.IGNORECASE)
_USE_A_TOOL = re.compile(r"\b(?:use|call|run|invoke|try)\b.{0,40}\btools?\b", re.IGNORECASE | re.DOTALL)
_QUESTION = re.compile(
    r"\?\s*$|^\s*(?:what|which|who|where|when|why|how|do you remember|remind)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\w)[^.!?\n]+)*[.!?]*")


def answer_of(request: Request) -> Answer:
    """Returns the model's answer to a request. It depends on the request alone.

    Args:
        request: A request that was judged.

    Examples:
        >>> said = {"messages": [{"role": "user", "content": "What is 6 * 7?"}]}
        >>> answer_of(Request("openai-chat", "openai", said)).text
        '42'
    """
    options, items = options_of(request), readers.read(request)
    if options.schema in (None, ANY_OBJECT) and (told := _schema_in_words(items)):
        options, items = replace(options, schema=told[0]), told[1]
    talk = _Talk(items)
    parts = _calls(talk, options) or _own_tools(talk, options) or (Say(_text(talk, options)),)
    if options.thinks:
        parts = (Think(_thought(talk, parts)), *parts)
    answer = _counted(_limited(parts, options, _most(request.body)), _input_tokens(items, options))
    cached = request.body.get(CACHED_TOKENS)
    if not isinstance(cached, int):
        return answer
    return replace(answer, usage=replace(answer.usage, cached=min(cached, answer.usage.input)))


def question_of(request: Request) -> str:
    """Returns the user's last text, which the results of tools may follow.

    Args:
        request: A request in any wire format.
    """
    return _Talk(readers.read(request)).question


def results_of(request: Request) -> list[Item]:
    """Returns the results of tools after the model's last message.

    Args:
        request: A request in any wire format.
    """
    return _Talk(readers.read(request)).results


class _Talk:
    """A conversation: its items before the model's last message, the new items after it, and the question. `earlier` is
    what was said before the question, also if the model has not answered yet.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        answered = len(items)
        while answered and items[answered - 1].role != "assistant":
            answered -= 1
        self.items = items
        self.new = [item for item in items[answered:] if item.role != "system"]
        self.before = items[:answered]
        last = max((item.turn for item in self.new), default=0)
        self.earlier = self.before or [item for item in self.new if item.turn < last]
        self.results = [item for item in self.new if item.kind == "result"]
        self.media = [item.media for item in self.new if item.media]
        asked = (
            _last_user_texts(self.before)
            if self.results
            else _last_user_texts(self.new) or _last_user_texts(self.before)
        )
        self.question = "\n".join(asked)[:_MOST_READ].strip()
        begun = max((place for place, item in enumerate(items) if _is_said(item)), default=0)
        self.called = {item.name for item in items[begun:] if item.kind == "call"}  # for this question

    def call_of(self, result: Item) -> Item | None:
        """Returns the call that a result answers."""
        calls = [item for item in self.before if item.kind == "call"]
        same = [call for call in calls if result.id and call.id == result.id]
        return next(iter(same or [call for call in reversed(calls) if call.name == result.name]), None)


def _last_user_texts(items: Sequence[Item]) -> list[str]:
    """Returns the texts of the user's last message."""
    texts = [item for item in items if _is_said(item)]
    return [item.text for item in texts if item.turn == texts[-1].turn]


def _is_said(item: Item) -> bool:
    """Tells whether an item is a text of the user's, and no tag around media."""
    by_user = item.kind == "text" and item.role == "user" and item.within is None
    return by_user and bool(item.text.strip()) and not _TAG.fullmatch(item.text)


# tools --------------------------------------------------------------------------------------------------


def _calls(talk: _Talk, options: Options) -> tuple[Said, ...]:
    """Returns the calls that the request demands or that the question asks for."""
    if not options.tools or (talk.results and not options.forced):
        return ()
    offered = [tool for tool in options.tools if tool.name not in talk.called] or options.tools
    tools = fitting(offered, talk.question)
    if not tools and (again := _calls_again(talk, options)):
        return tuple(again[: _MOST_CALLS if options.parallel else 1])
    if not tools and (options.forced or _USE_A_TOOL.search(talk.question)):
        tools = [
            offered[-1 if talk.called else 0]
        ]  # the tool for the answer is the last one in most libraries
    calls = [call for tool in tools for call in _calls_for(tool, about(tool, tools, talk.question), talk)]
    return tuple(calls[: _MOST_CALLS if options.parallel else 1])


_POINTS = re.compile(r"\b(?:it|that|there|here|them|this|es|das|dort|hier|là|ça|allí|eso)\b", re.IGNORECASE)


def _calls_for(tool: Tool, question: str, talk: _Talk) -> list[Call]:
    """Returns the calls for a question. One that points to what was said, and names nothing, has the values from there."""
    words = UserWords(question)
    if not talk.before or words.names or words.numbers or not _POINTS.search(question):
        return _calls_of(tool, question)
    called = [item for item in talk.before if item.kind == "call" and item.name == tool.name]
    if called and isinstance(called[-1].arguments, dict):
        return [
            _with_earlier(call, called[-1].arguments, tool, question) for call in _calls_of(tool, question)
        ]
    said = [item.text for item in talk.before if item.text.strip() and item.role != "system"]
    earlier = [UserWords(text) for text in reversed(said)]
    name = (
        next((" in " + each.names[-1] for each in earlier if each.names), "")
        if takes_names(tool.schema)
        else ""
    )
    number = next((f" {each.numbers[0].value:g}" for each in earlier if each.numbers), "")
    return _calls_of(tool, question + name + number)


_FOLLOWS = re.compile(
    r"\W*(?:and|what about|how about|und|was ist mit|et|y|e|и|а|那|那么|では|それでは)\b", re.IGNORECASE
)


def _calls_again(talk: _Talk, options: Options) -> list[Call]:
    """Returns the calls for a question that only names other things, as in `and in Rome?`: the last ones, with these."""
    question = talk.question
    eastern = not question.isascii() and re.match(r"那|では|それでは", question) is not None
    if len(question) > 80 or not (eastern or _FOLLOWS.match(question)):
        return []
    last = next((item for item in reversed(talk.before) if item.kind == "call"), None)
    tool = next((tool for tool in options.tools if last and tool.name == last.name), None)
    if tool is None or last is None or not isinstance(last.arguments, dict):
        return []
    words = UserWords(question)
    named = (
        words.names
        or words.numbers
        or words.dates
        or words.quotes
        or words.name_after("in", "to", "for", "at")
    )
    earlier = {name: value for name, value in last.arguments.items() if not isinstance(value, dict | list)}
    return (
        [_with_earlier(call, earlier, tool, question) for call in _calls_of(tool, question)] if named else []
    )


def _with_earlier(call: Call, earlier: dict[str, Any], tool: Tool, question: str) -> Call:
    """Returns a call. Values that are not in the question come from an earlier call."""
    properties = tool.schema.get("properties")
    told = question.casefold()
    known = properties if isinstance(properties, dict) else {}
    kept = {
        name: value
        for name, value in earlier.items()
        if name in known and not _is_told(call.arguments.get(name), told)
    }
    return replace(call, arguments={**call.arguments, **kept})


def _is_told(value: Any, text: str) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return re.search(rf"(?<!\d){re.escape(str(value))}(?!\d)", text) is not None
    return isinstance(value, str) and value.casefold() in text and value.casefold() != text


def _calls_of(tool: Tool, question: str) -> list[Call]:
    """Returns a call, or one for each of the things that the question names."""
    words = UserWords(question, ignored=[*re.split(r"[_\W]+", tool.name), *options_in(tool.schema)])
    schema = {"type": "object", **tool.schema}
    if takes_names(schema) == 1 and not takes_a_list(schema):
        words.narrow(sentences_for(tool, question))
    calls = [Call(tool.name, _object(filled(schema, words)))]
    kind, each = _several(tool, words)
    count = each if kind == "options" else 1 + len(getattr(words, kind)) // each if kind else 1
    for _ in range(1, min(count, _MOST_CALLS)):
        words.restore(kind)
        values = _object(filled(schema, words))
        if all(values != call.arguments for call in calls):
            calls.append(Call(tool.name, values))
    return calls


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _several(tool: Tool, words: UserWords) -> tuple[str, int]:
    """Returns the kind of value for further calls and how many of them each call takes. The question has enough of them."""
    slots = 0 if takes_a_list(tool.schema) else takes_names(tool.schema)
    kinds = ("names", "urls", "files", "emails", "quotes", "numbers")
    if takes_a_list(tool.schema):
        return "", 0
    for kind in kinds:
        left = words.__dict__.get(kind, ())
        used = 1 if kind == "names" and words.took_small_words else words.used(kind)
        alone = kind not in {"numbers", "quotes"} or _only_required(tool)
        alone = alone and (kind != "numbers" or words.are_listed(words.originals[kind]))
        if used > 0 and left and len(left) % used == 0 and alone and (kind != "names" or used == slots):
            return kind, used
    return _several_options(tool, words)


def _only_required(tool: Tool) -> bool:
    required = tool.schema.get("required")
    return isinstance(required, list) and len(required) == 1


def _several_options(tool: Tool, words: UserWords) -> tuple[str, int]:
    """Returns `options` and the number of calls, if the question names several options of a required `enum`."""
    properties, required = _object(tool.schema.get("properties")), tool.schema.get("required")
    for name in required if isinstance(required, list) else ():
        options = _object(properties.get(name)).get("enum") if isinstance(name, str) else None
        named = named_options(options, words.text) if isinstance(options, list) else []
        if len(named) > 1:
            return "options", len(named)
    return "", 0


# media, and tools of the provider -----------------------------------------------------------------------

_DRAWS = re.compile(
    r"\b(?:draw|paint|image|picture|logo|photo|illustration|generate|sketch)\b", re.IGNORECASE
)
_SEARCHES = re.compile(
    r"\b(?:search|look up|web|news|latest|today|current|find out|source|cite)", re.IGNORECASE
)
_COMPUTES = re.compile(r"\b(?:code|python|compute|calculate|program|run)\b", re.IGNORECASE)


def _own_tools(talk: _Talk, options: Options) -> tuple[Said, ...]:
    """Returns an image, a sound, a search or a program with its text, if the request asks for one."""
    if not options.shows or options.schema is not None:
        return ()
    question = talk.question
    if "audio" in options.shows:
        words = _text(talk, options)
        return (Show(sound(words), "audio/wav", words),)
    if "image" in options.shows and _DRAWS.search(question):
        return (Show(picture(question), "image/png", _quoted(question)),)
    if "search" in options.shows and _SEARCHES.search(question):
        page = Source("https://example.com/", "Example Domain", "This domain is for use in examples.")
        sentence = f"I searched for “{_quoted(question)}” and found one page: Example Domain."
        return Search(_quoted(question), (page,)), Say(sentence, (), (replace(page, cited="Example Domain"),))
    if "code" in options.shows and (_COMPUTES.search(question) or expression_in(question)):
        found = expression_in(question)
        output = result_of(found) if found else _quoted(question)
        code = f"print({found.replace('^', '**')})" if found else f"print({question[:80]!r})"
        return Run(code, f"{output}\n"), Say(f"The program printed {output}.")
    return ()


_SCHEMA_IN_WORDS = re.compile(r'\bschema\b[^{}"]{0,80}(?=\{)', re.IGNORECASE)
_ANSWERS = re.compile(r"\b(?:answer|respond|reply|return|output|conform|format)", re.IGNORECASE)
_DECODER = json.JSONDecoder()


def _schema_in_words(items: Sequence[Item]) -> tuple[Json, list[Item]] | None:
    """Returns the JSON Schema that the last instruction asks to follow, and the items without that instruction."""
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        told = (item.kind == "system" or (item.kind == "text" and item.role == "user")) and _schema_in_text(
            item.text
        )
        if told:
            rest = item._replace(text=told[1])
            kept = [rest] if rest.text.strip() else []
            return told[0], [*items[:place], *kept, *items[place + 1 :]]
    return None


def _schema_in_text(text: str) -> tuple[Json, str] | None:
    """Returns the schema in a text, and what was said before and after the sentence that has it."""
    found = list(_SCHEMA_IN_WORDS.finditer(text))
    verbs = list(_ANSWERS.finditer(text, 0, found[-1].start())) if found else []
    if not verbs:
        return None
    try:
        schema, end = _DECODER.raw_decode(text, found[-1].end())
    except (ValueError, RecursionError):
        return None
    return (schema, text[: verbs[-1].start()] + text[end:]) if schema.keys() & _OF_A_SCHEMA else None


_OF_A_SCHEMA = {"type", "properties", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"}


# texts --------------------------------------------------------------------------------------------------


def _text(talk: _Talk, options: Options) -> str:
    if options.schema is not None:
        told = [talk.question, *(item.text for item in talk.results), *map(described, talk.media)]
        return json.dumps(filled(options.schema, UserWords("\n".join(told))), ensure_ascii=False)
    if talk.results:
        return _about_results(talk)
    if talk.media:
        return _about_media(talk)
    return _from_history(talk) or _reply(talk.question)


def _about_results(talk: _Talk) -> str:
    seen = [f"It is {described(media)}." for media in talk.media]
    results = [item for item in talk.results if not (seen and len(item.text) < 60 and not _fails(item))]
    if len(results) == 1 and not seen:
        return _about_result(results[0], talk)
    labelled = [f"{_label(item, talk)}: {_value(item.text)}." for item in results if not _fails(item)]
    failed = [_about_result(item, talk) for item in results if _fails(item)]
    return " ".join([*labelled, *failed, *seen]) or "The tool gave no result."


def _about_result(result: Item, talk: _Talk) -> str:
    text = result.text.strip()
    if _fails(result):
        call = talk.call_of(result)
        return f"The tool {(call.name if call else result.name) or 'call'} failed: {text[:300]}"
    if text in {"", '""'}:
        return "The tool gave no result."
    if text[-1] in ".!?" and " " in text:
        return text
    value = _value(text)
    return (
        f"The result is {value}."
        if "\n" in value or len(value) > 200 or value.startswith("{")
        else f"It is {value}."
    )


def _fails(result: Item) -> bool:
    return result.error or _FAILED.match(result.text) is not None


def _label(result: Item, talk: _Talk) -> str:
    """Returns the values of the call that a result answers, or the name of its tool."""
    call = talk.call_of(result)
    arguments = call.arguments if call and isinstance(call.arguments, dict) else {}
    values = [str(value) for value in arguments.values() if isinstance(value, str | int | float)]
    return ", ".join(values)[:100] or (call.name if call else result.name) or "Result"


def _value(text: str) -> str:
    """Returns a result as words. JSON becomes a list of its values."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    match value:
        case dict() if value and all(not isinstance(each, dict | list) for each in value.values()):
            return _listed([f"{key} {each}" for key, each in value.items()])
        case list() if value and all(not isinstance(each, dict | list) for each in value):
            return _listed([str(each) for each in value])
        case str():
            return value
    return text.strip()


def _about_media(talk: _Talk) -> str:
    colours = [colour_of(media) for media in talk.media if media.data and media.type.startswith("image/")]
    if colours and re.search(r"one word|single word|only the colou?r", talk.question, re.IGNORECASE):
        return f"{(colours[0] or 'unknown').capitalize()}."
    return f"I see {_listed([described(media) for media in talk.media])}."


def _from_history(talk: _Talk) -> str:
    """Returns the answer to a question about the conversation, or an empty text."""
    if not talk.earlier or not _QUESTION.search(talk.question):
        return ""
    images = [item.media for item in talk.earlier if item.kind == "image" and item.media]
    if images and re.search(r"\bcolou?rs?\b", talk.question, re.IGNORECASE):
        return f"It was {colour_of(images[-1]) or 'a colour that I cannot read'}."
    if images and re.search(r"\b(size|large|big|wide|pixels)\b", talk.question, re.IGNORECASE):
        return f"It was {described(images[-1])}."
    if _IN_TOTAL.search(talk.question) and (total := _total(talk)):
        return total
    return _recalled(talk)


_IN_TOTAL = re.compile(
    r"\b(?:in total|total|altogether|sum|insgesamt|zusammen|au total|en total|in totale)\b|合計|总共|一共",
    re.IGNORECASE,
)


def _total(talk: _Talk) -> str:
    """Returns the sum of the numbers of the last results, one of each, or of the user's last text that has several."""
    asked = [
        n
        for n, item in enumerate(talk.earlier)
        if item.kind == "text" and item.role == "user" and item.within is None
    ]
    texts = [item.text for item in talk.earlier[asked[-1] if asked else 0 :] if item.kind == "result"]
    numbers = [found[0].value for text in texts if (found := UserWords(text).numbers)]
    if len(numbers) == 1:
        numbers = [number.value for number in UserWords(texts[0]).numbers]
    if not numbers:
        said = (
            UserWords(item.text).numbers
            for item in reversed(talk.earlier)
            if item.kind == "text" and item.role == "user"
        )
        numbers = next(([number.value for number in found] for found in said if len(found) > 1), [])
    return f"It was {sum(numbers):.10g} in total." if numbers else ""


def _recalled(talk: _Talk) -> str:
    """Returns the earlier sentence that has most words of the question, of the user and the tools before the model."""
    said = [
        item.text
        for item in talk.earlier
        if item.kind == "text" and item.role == "user" and item.text.strip()
    ]
    if said and (which := _MY_QUESTION.search(talk.question)):
        return f"You said: “{_quoted(said[0] if which['first'] or which['first2'] else said[-1])}”"
    asked = frozenset({"name"}) if _WHO_AM_I.search(talk.question) else content_words(talk.question)
    if not asked:
        return ""
    items = [
        item
        for item in reversed(talk.earlier)
        if item.kind in {"text", "result"} and not _TAG.fullmatch(item.text)
    ]
    for speakers in ({"user", "tool"}, {"assistant"}):
        best, most = "", 0
        for item in items:
            for sentence in _SENTENCE.findall(item.text[:5000]) if item.role in speakers else ():
                common = 0 if sentence.endswith("?") else len(asked & content_words(sentence))
                if common > most:
                    who = "The result said" if item.kind == "result" else _SPEAKERS[item.role]
                    best, most = f"{who}: “{sentence.strip()}”", common
        if best:
            return best
    return ""


_MY_QUESTION = re.compile(
    r"\bwhat (?:did|have) i (?:just )?(?:ask(?:ed)?|say|said|tell|told)\b(?: you)?(?P<first> first| at the beginning)?\W*(?:before|last|earlier|just now)?\W*$"
    r"|\bwhat was my (?:last|previous|(?P<first2>first)) (?:question|message)\b",
    re.IGNORECASE,
)
_WHO_AM_I = re.compile(
    r"\bwho am i\b|\bwer bin ich\b|\bwie heiße ich\b|\bcomment je m'appelle\b|\bqui suis-je\b", re.IGNORECASE
)
_SPEAKERS = {"user": "You said", "tool": "The result said", "assistant": "I said"}
_GREETING = re.compile(
    r"(?:hi|hello|hey|good (?:morning|day|evening)|hallo|guten (?:tag|morgen)|bonjour|salut|¡?hola|ciao|olá|привет|こんにちは|你好|您好"
    r"|안녕하세요|مرحبا)(?![a-z])[^?]{0,40}",
    re.IGNORECASE,
)
_REPEAT = re.compile(
    r"\b(?:say|reply|respond|answer|repeat|echo|write|output|print)\b(?: (?:with|only|exactly|just|back|the|words?|text|after me|single))*"
    r"(?::\s*(?P<colon>[^\n]+)|\s+[\"“'](?P<quoted>[^\"”']+)[\"”']| (?P<word>[A-Z]{2,}|pong|yes|no|ok|hello|hi)(?=\s*(?:[.!?]|$)))",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\bcount\b(?:.{0,20}?\bfrom (\d{1,4}))?.{0,20}?\bto (\d{1,4})\b", re.IGNORECASE)
_ASKS_SUM = re.compile(
    r"[?？=]\s*$|\b(?:what|what's|how much|calculate|compute|solve|evaluate|was ist|wie ?viel|rechne|combien|calcule|cuánto|calcula|quanto)\b"
    r"|いくつ|計算|多少|计算|احسب|сколько",
    re.IGNORECASE,
)
_SAYINGS = (
    (
        re.compile(
            r"^\W*(?:thanks|thank you|danke|merci|gracias|grazie|obrigad[oa]|ありがとう|谢谢|شكرا|спасибо)(?![a-z])",
            re.IGNORECASE,
        ),
        "You are welcome.",
    ),
    (
        re.compile(
            r"\b(?:who|what) are you\b|\bwhat can you do\b|\bwer bist du\b|\bqui es-tu\b", re.IGNORECASE
        ),
        "I am the model of the strict server. I call tools, read their results, and follow rules.",
    ),
)
_LONG = re.compile(r"\b(?:story|essay|poem|article|long|detailed|paragraphs?)\b", re.IGNORECASE)
_QUOTED_WORDS, _QUOTED_CHARACTERS = 40, 300


def _reply(question: str) -> str:
    """Returns the answer to a text without tools, media or history."""
    known = _known_reply(question.strip())
    if known:
        return known
    count = len(question.split())
    answer = f"I read your message of {count:,} {'word' if count == 1 else 'words'}: “{_quoted(question)}”"
    if _LONG.search(question):
        return " ".join(
            [answer, *(f"This is sentence {number} of a long answer." for number in range(2, 61))]
        )
    return answer


def _known_reply(question: str) -> str:
    """Returns the answer to a greeting, thanks, a question about the model, a text to repeat, a count or a sum."""
    if not question or _GREETING.fullmatch(question):
        return "Hello! How can I help you?"
    if repeat := _REPEAT.search(question):
        return (repeat["colon"] or repeat["quoted"] or repeat["word"]).strip().strip("\"“”'")
    if numbers := _COUNT.search(question):
        first, last = int(numbers[1] or 1), int(numbers[2])
        return ", ".join(map(str, range(first, min(last, first + 999) + 1))) or "There is nothing to count."
    found = expression_in(question)
    if found and (_ASKS_SUM.search(question) or 2 * len(found) > len(question)):
        return result_of(found)
    replies = (reply for pattern, reply in _SAYINGS if pattern.search(question))
    return next(replies, "")


def _quoted(text: str) -> str:
    """Returns the beginning of a text."""
    words = text.split()
    beginning = " ".join(words[:_QUOTED_WORDS])[:_QUOTED_CHARACTERS]
    return beginning + (" …" if len(beginning) < len(" ".join(words)) else "")


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]


# reasoning, limits and counts ---------------------------------------------------------------------------


def _thought(talk: _Talk, parts: Sequence[Said]) -> str:
    names = dict.fromkeys(part.name for part in parts if isinstance(part, Call))
    step = f"I need {_listed(list(names))} for it." if names else "I can answer it now."
    return f"The user asks: “{_quoted(talk.question)}” {step}"


def _most(body: Json) -> int:
    """Returns how many characters one answer has at most, so that a short request has no endless reply."""
    settings = object_of(body.get("generationConfig"))
    asked = (
        body.get("n"),
        settings.get("candidateCount"),
        body.get("top_logprobs"),
        settings.get("logprobs"),
    )
    times = prod(1 + min(each, 128) for each in asked if type(each) is int and each > 0)
    return _MOST_WRITTEN // times


def _limited(parts: Sequence[Said], options: Options, most: int = _MOST_WRITTEN) -> Answer:
    """Returns an answer that ends at a stop sequence or at the limit of tokens."""
    left = most if options.limit is None else min(options.limit * 4, most)
    complete: list[Said] = []
    for part in parts:
        text = _written(part)
        stop = _first_stop(text, options.stops) if isinstance(part, Say) else None
        if stop and stop[0] <= left and isinstance(part, Say):
            return Answer((*complete, Say(text[: stop[0]])), "sequence", stop_sequence=stop[1])
        if len(text) > left:
            return Answer((*complete, *_shortened(part, left)), "length")
        left -= len(text)
        complete.append(part)
    return Answer(tuple(complete))


def _first_stop(text: str, stops: Sequence[str]) -> tuple[int, str] | None:
    places = [(text.index(stop), stop) for stop in stops if stop in text]
    return min(places) if places else None


def _shortened(part: Said, length: int) -> tuple[Said, ...]:
    if length <= 0:
        return ()
    if isinstance(part, Call):
        return (replace(part, text=_written(part)[:length]),)
    return (replace(part, text=part.text[:length]),) if isinstance(part, Say | Think) else ()


def _written(part: Said) -> str:
    """Returns the text that a part consists of."""
    if isinstance(part, Call):
        return json.dumps(part.arguments, ensure_ascii=False) if part.text is None else part.text
    return part.text if isinstance(part, Say | Think) else ""


def _tokens(text: str) -> int:
    """Returns the approximate number of tokens of a text: one for four characters."""
    return -(-len(text) // 4)


def _counted(answer: Answer, asked: int) -> Answer:
    """Returns an answer with its token counts."""
    if len(answer.parts) == 1 and isinstance(first := answer.parts[0], Say):  # the usual one, without detours
        return Answer(
            answer.parts, answer.stop, Usage(asked, max(1, _tokens(first.text))), answer.stop_sequence
        )
    reasoning = _tokens(answer.thinking)
    written = sum(_tokens(_written(part)) for part in answer.parts if not isinstance(part, Think))
    names = sum(_tokens(call.name) for call in answer.calls) if answer.reason == "tool" else 0
    usage = Usage(asked, max(1, reasoning + written + names), 0, reasoning)
    return Answer(answer.parts, answer.stop, usage, answer.stop_sequence)


def input_tokens(request: Request) -> int:
    """Returns the approximate number of tokens of a request: its texts, its calls, its media, and its tools.

    Args:
        request: A request in any wire format.
    """
    return _input_tokens(readers.read(request), options_of(request))


def _input_tokens(items: Sequence[Item], options: Options) -> int:
    tools = _tool_tokens(options.tools) if options.tools else 0
    return max(1, tools + sum([_item_tokens(item) for item in items]))


def _tool_tokens(tools: Sequence[Tool]) -> int:
    fields = [[tool.name, tool.description, tool.schema] for tool in tools]
    try:
        return _counted_tools(orjson.dumps(fields))
    except TypeError:  # half a surrogate pair, or a number beyond 64 bits
        return _tokens_of_fields(fields)


@remembered(64, longest=100_000)
def _counted_tools(text: bytes) -> int:
    """Returns the tokens of tools, which are the same in each request of a program."""
    return _tokens_of_fields(json.loads(text))


def _tokens_of_fields(tools: Sequence[Sequence[Any]]) -> int:
    return sum(_tokens(name + description + json.dumps(schema)) for name, description, schema in tools)


def _item_tokens(item: Item) -> int:
    if item.kind == "text":
        return 3 + len(item.text) // 4
    media = _MEDIA_TOKENS if item.media else 0
    call = _tokens(json.dumps(item.arguments, default=str)) if item.kind == "call" else 0
    return 3 + len(item.text) // 4 + media + call
