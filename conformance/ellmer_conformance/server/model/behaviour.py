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
from functools import lru_cache
from operator import add, mul, sub, truediv
from typing import Any

import orjson

from ...contract import readers
from ...contract.exchange import Item, Request
from ...scenarios.messages import Source
from ...scenarios.script import Answer, Call, Run, Said, Say, Search, Show, Think, Usage
from .media_description import colour_of, described
from .media_made import picture, sound
from .request_options import Options, Tool, options_of
from .schema_values import filled, takes_a_list, takes_names
from .user_words import UserWords, content_words

_MOST_CALLS = 8
_MEDIA_TOKENS = 85  # of an image or a document; https://developers.openai.com/api/docs/guides/images-vision
_TAG = re.compile(r"\s*</?content\b[^>]*>\s*")  # around media of a result that a format cannot hold
_FAILED = re.compile(r"\s*+(?:\W*+error\b|tool calling failed|exception|traceback)", re.IGNORECASE)
_USE_A_TOOL = re.compile(r"\b(?:use|call|run|invoke|try)\b.{0,40}\btools?\b", re.IGNORECASE | re.DOTALL)
_QUESTION = re.compile(
    r"\?\s*$|^\s*(?:what|which|who|where|when|why|how|do you remember|remind)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


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
    talk = _Talk(items)
    parts = _calls(talk, options) or _own_tools(talk, options) or (Say(_text(talk, options)),)
    if options.thinks:
        parts = (Think(_thought(talk, parts)), *parts)
    return _counted(_limited(parts, options), _input_tokens(items, options))


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
        asked = _said(self.before) if self.results else _said(self.new) or _said(self.before)
        self.question = "\n".join(asked).strip()

    def call_of(self, result: Item) -> Item | None:
        """Returns the call that a result answers."""
        calls = [item for item in self.before if item.kind == "call"]
        same = [call for call in calls if result.id and call.id == result.id]
        return next(iter(same or [call for call in reversed(calls) if call.name == result.name]), None)


def _said(items: Sequence[Item]) -> list[str]:
    """Returns the texts of the user's last message."""
    texts = [item for item in items if item.kind == "text" and item.role == "user" and item.within is None]
    texts = [item for item in texts if not _TAG.fullmatch(item.text) and item.text.strip()]
    return [item.text for item in texts if item.turn == texts[-1].turn]


# tools --------------------------------------------------------------------------------------------------


def _calls(talk: _Talk, options: Options) -> tuple[Said, ...]:
    """Returns the calls that the request demands or that the question asks for."""
    if not options.tools or (talk.results and not options.forced):
        return ()
    tools = _fitting(options.tools, talk.question)
    if not tools and (options.forced or (options.tools and _USE_A_TOOL.search(talk.question))):
        tools = [options.tools[0]]
    calls = [call for tool in tools for call in _calls_of(tool, _about(tool, tools, talk.question))]
    return tuple(calls[: _MOST_CALLS if options.parallel else 1])


def _fitting(tools: Sequence[Tool], question: str) -> list[Tool]:
    """Returns the tools that fit a question: first the best one, then each one for words that the others do not fit."""
    asked = content_words(question)
    scores = [(*_score(tool, asked, question), tool) for tool in tools]
    found, covered = [], frozenset[str]()
    for score, words, tool in sorted(scores, key=lambda each: -each[0]):
        if score and not words <= covered:
            found.append(tool)
            covered |= words
    return [tool for tool in tools if tool in found]


def _score(tool: Tool, asked: frozenset[str], question: str) -> tuple[int, frozenset[str]]:
    """Returns how well a tool fits, and the words of the question that it fits. A name counts twice."""
    named, described = tool.name_words & asked, tool.words
    if len(tool.name) > 3 and tool.name in question and re.search(rf"\b{re.escape(tool.name)}\b", question):
        return 100, frozenset([tool.name])
    if tool.name_parts and tool.name_parts <= _all_words(question):
        return 50, tool.name_parts
    if named:
        return 2 * len(named) + len(described & asked), named
    common = described & asked
    return (len(common), common) if len(common) > len(described) // 12 else (0, frozenset())


@lru_cache(64)
def _all_words(question: str) -> frozenset[str]:
    """Returns the words of a question, also those without a meaning of their own. Each tool is compared with them."""
    return frozenset(re.findall(r"\w+", question.lower()))


_CLAUSE_END = re.compile(r"[.?!;]\s+|,?\s+(?:and|und|et|y)\s+")


def _about(tool: Tool, tools: Sequence[Tool], question: str) -> str:
    """Returns the clauses of a question that a tool fits, if another tool fits others and these name something."""
    clauses = _CLAUSE_END.split(question) if len(tools) > 1 else []
    own = [each for each in clauses if _score(tool, content_words(each), each)[0]]
    others = [each for each in clauses if each not in own and UserWords(each).names]
    told = " ".join(own)
    return told if others and UserWords(told).names else question


def _calls_of(tool: Tool, question: str) -> list[Call]:
    """Returns a call, or one for each of the things that the question names."""
    words = UserWords(question, ignored=re.split(r"[_\W]+", tool.name))
    slots = 0 if takes_a_list(tool.schema) else takes_names(tool.schema)  # a list takes all that is named
    names = len(words.names)
    count = names // slots if slots and names % slots == 0 else 1
    arguments: list[Any] = []
    for _ in range(max(1, min(count, _MOST_CALLS))):
        values = filled({"type": "object", **tool.schema}, words)
        if values not in arguments:
            arguments.append(values if isinstance(values, dict) else {})
    return [Call(tool.name, values) for values in arguments]


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
    if "code" in options.shows and (_COMPUTES.search(question) or _SUM.search(question)):
        found = _SUM.search(question)
        output = _sum(found) if found else _quoted(question)
        code = f"print({found[0]})" if found else f"print({question[:80]!r})"
        return Run(code, f"{output}\n"), Say(f"The program printed {output}.")
    return ()


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
    if not text:
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
    return _recalled(talk)


def _recalled(talk: _Talk) -> str:
    """Returns the earlier sentence that has most words of the question, of the user and the tools before the model."""
    asked = content_words(talk.question)
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


_SPEAKERS = {"user": "You said", "tool": "The result said", "assistant": "I said"}
_GREETING = re.compile(r"(?:hi|hello|hey|good (?:morning|day|evening))\b[^?]{0,40}", re.IGNORECASE)
_REPEAT = re.compile(
    r"\b(?:say|reply|respond|answer|repeat|echo|write|output|print)\b(?: (?:with|only|exactly|just|back|the|words?|text|after me|single))*"
    r"(?::\s*(?P<colon>[^\n]+)|\s+[\"“'](?P<quoted>[^\"”']+)[\"”']| (?P<word>[A-Z]{2,}|pong|yes|no|ok|hello|hi)(?=\s*(?:[.!?]|$)))",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\bcount\b(?:.{0,20}?\bfrom (\d{1,4}))?.{0,20}?\bto (\d{1,4})\b", re.IGNORECASE)
_SUM = re.compile(
    r"(-?\d{1,9}(?:\.\d{1,6})?)\s*(\+|-|−|\*|×|x|/|÷|plus|minus|times|multiplied by|divided by)\s*(-?\d{1,9}(?:\.\d{1,6})?)",
    re.IGNORECASE,
)
_OPERATIONS = {
    **dict.fromkeys(("+", "plus"), add),
    **dict.fromkeys(("-", "−", "minus"), sub),
    **dict.fromkeys(("*", "×", "x", "times", "multiplied by"), mul),
    **dict.fromkeys(("/", "÷", "divided by"), truediv),
}
_LONG = re.compile(r"\b(?:story|essay|poem|article|long|detailed|paragraphs?)\b", re.IGNORECASE)
_QUOTED_WORDS, _QUOTED_CHARACTERS = 40, 300


def _reply(question: str) -> str:
    """Returns the answer to a text without tools, media or history."""
    if not question or _GREETING.fullmatch(question.strip()):
        return "Hello! How can I help you?"
    if repeat := _REPEAT.search(question):
        return (repeat["colon"] or repeat["quoted"] or repeat["word"]).strip().strip("\"“”'")
    if numbers := _COUNT.search(question):
        first, last = int(numbers[1] or 1), int(numbers[2])
        return ", ".join(map(str, range(first, min(last, first + 999) + 1))) or "There is nothing to count."
    if found := _SUM.search(question):
        return _sum(found)
    count = len(question.split())
    answer = f"I read your message of {count:,} {'word' if count == 1 else 'words'}: “{_quoted(question)}”"
    if _LONG.search(question):
        return " ".join(
            [answer, *(f"This is sentence {number} of a long answer." for number in range(2, 61))]
        )
    return answer


def _quoted(text: str) -> str:
    """Returns the beginning of a text."""
    words = text.split()
    beginning = " ".join(words[:_QUOTED_WORDS])[:_QUOTED_CHARACTERS]
    return beginning + (" …" if len(beginning) < len(" ".join(words)) else "")


def _sum(found: re.Match[str]) -> str:
    left, right = float(found[1]), float(found[3])
    operation = _OPERATIONS[found[2].lower()]
    if operation is truediv and not right:
        return "A division by zero has no result."
    return f"{operation(left, right):.10g}"


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]


# reasoning, limits and counts ---------------------------------------------------------------------------


def _thought(talk: _Talk, parts: Sequence[Said]) -> str:
    names = dict.fromkeys(part.name for part in parts if isinstance(part, Call))
    step = f"I need {_listed(list(names))} for it." if names else "I can answer it now."
    return f"The user asks: “{_quoted(talk.question)}” {step}"


def _limited(parts: Sequence[Said], options: Options) -> Answer:
    """Returns an answer that ends at a stop sequence or at the limit of tokens."""
    if options.limit is None and not options.stops:
        return Answer(tuple(parts))
    left = None if options.limit is None else options.limit * 4
    complete: list[Said] = []
    for part in parts:
        text = _written(part)
        stop = _first_stop(text, options.stops) if isinstance(part, Say) else None
        if stop and (left is None or stop[0] <= left) and isinstance(part, Say):
            return Answer((*complete, Say(text[: stop[0]])), "sequence", stop_sequence=stop[1])
        if left is not None and len(text) > left:
            return Answer((*complete, *_shortened(part, left)), "length")
        left = None if left is None else left - len(text)
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


@lru_cache(256)
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
