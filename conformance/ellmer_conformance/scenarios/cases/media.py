"""Images, PDFs and audio, from the user and from tools. The model's next answer depends on the decoded bytes."""

from __future__ import annotations

from hashlib import sha256

from ..case import Case, ask, case
from ..messages import PDF, Audio, Image, Text
from ..script import Answer, AnswerByMedia, Call, Say, Usage
from ._media_and_tools import BLUE, CORRECTED, GREEN, JPEG, RED, REPORT, TONE, WEBP, returning, weather

_IMAGE, _PDF = frozenset({"image_in_tool_result"}), frozenset({"pdf_in_tool_result"})


def _media(*parts: object) -> tuple[str, ...]:
    """Returns the sha256 of each image, PDF and audio file, in order."""
    return tuple(sha256(p.data).hexdigest() for p in parts if isinstance(p, Audio | Image | PDF))


def _sees(*parts: object, says: str, usage: Usage) -> AnswerByMedia:
    return AnswerByMedia(_media(*parts), Answer((Say(says),), usage=usage))


@case
def image_from_user() -> Case:
    """A user turn has text, image, text, image: the four parts arrive in that order."""
    parts = (Text("Compare this"), RED, Text("with this."), BLUE)
    return Case(
        everywhere=True,
        needs=frozenset({"image_in_user"}),
        script=[_sees(*parts, says="Red, then blue.", usage=Usage(320, 7))],
        steps=[ask(*parts, text="Red, then blue.")],
    )


@case
def image_asked_about_again() -> Case:
    """The user's next turns are about an image of the first one: each request still has its bytes."""
    return Case(
        on_server=True,
        printed_alike=False,
        needs=frozenset({"image_in_user"}),
        script=[
            _sees(RED, says="A square.", usage=Usage(210, 4)),
            Answer((Say("It is red."),), usage=Usage(225, 5)),
            Answer((Say("No, nothing else."),), usage=Usage(240, 6)),
        ],
        steps=[
            ask("What is in this image?", RED, text="A square."),
            ask("What colour is it?", text="It is red."),
            ask("Is there anything else?", text="No, nothing else."),
        ],
    )


@case
def other_image_formats() -> Case:
    """A user turn has a JPEG and a WebP: both arrive, with their types."""
    parts = (Text("Describe these."), JPEG, WEBP)
    return Case(
        on_server=True,
        printed_alike=False,
        needs=frozenset({"image_in_user"}),
        inexpressible={"ollama": "its images are PNG or JPEG"},
        script=[_sees(*parts, says="A gray square and a green one.", usage=Usage(300, 8))],
        steps=[ask(*parts, text="A gray square and a green one.")],
    )


@case
def pdf_from_user() -> Case:
    """A PDF in a user turn arrives as a document with its name."""
    return Case(
        everywhere=True,
        needs=frozenset({"pdf_in_user"}),
        script=[_sees(REPORT, says="The total is 42 EUR.", usage=Usage(300, 9))],
        steps=[ask("What is the total?", REPORT, text="The total is 42 EUR.")],
    )


@case
def two_pdfs_of_one_name() -> Case:
    """Three turns of the user have a PDF each, with one name, and the last is the first one again: all are sent each time."""
    return Case(
        on_server=True,
        printed_alike=False,
        modes=("sync", "stream"),
        needs=frozenset({"pdf_in_user"}),
        script=[
            _sees(REPORT, says="The total is 42 EUR.", usage=Usage(300, 9)),
            _sees(CORRECTED, says="Now it is 43 EUR.", usage=Usage(560, 9)),
            _sees(REPORT, says="It is 42 EUR again.", usage=Usage(820, 9)),
        ],
        steps=[
            ask("What is the total?", REPORT, text="The total is 42 EUR."),
            ask("And here?", CORRECTED, text="Now it is 43 EUR."),
            ask("And in the first one?", REPORT, text="It is 42 EUR again."),
        ],
    )


@case
def audio_from_user() -> Case:
    """A user turn has audio after a text: the model gets its bytes, and the next request still has them."""
    deaf = ("anthropic", "bedrock", "cohere", "ollama", "openai-chat/deepseek")
    parts = (Text("What do you hear?"), TONE)
    return Case(
        needs=frozenset({"audio_in_user"}),
        inexpressible=dict.fromkeys(deaf, "its messages have no audio"),
        models={"openai-chat": "gpt-audio"},
        script=[
            _sees(*parts, says="A short tone.", usage=Usage(40, 5)),
            Answer((Say("Less than a second."),), usage=Usage(55, 6)),
        ],
        steps=[ask(*parts, text="A short tone."), ask("How long is it?", text="Less than a second.")],
    )


@case
def tool_returns_image() -> Case:
    """A tool returns an image: the model gets its bytes, now and when the history is sent again."""
    return Case(
        everywhere=True,
        needs=_IMAGE,
        tools=[returning("draw", "Draws a picture.", lambda: RED)],
        script=[
            Answer((Call("draw"),), usage=Usage(30, 10)),
            _sees(RED, says="A red square.", usage=Usage(210, 6)),
            Answer((Say("Still red."),), usage=Usage(225, 5)),
        ],
        steps=[
            ask("Draw something and describe it.", text="A red square."),
            ask("What colour was it?", text="Still red."),
        ],
    )


@case
def tool_returns_two_images() -> Case:
    """A tool returns `[image, image]`: both arrive in order, each with the number of its item."""
    return Case(
        needs=_IMAGE,
        tools=[returning("draw_two", "Draws two pictures.", lambda: [RED, BLUE])],
        script=[
            Answer((Call("draw_two"),), usage=Usage(30, 10)),
            _sees(RED, BLUE, says="Red, then blue.", usage=Usage(390, 7)),
        ],
        steps=[ask("Draw two things.", text="Red, then blue.")],
    )


@case
def tool_returns_mixed_list() -> Case:
    """A tool returns `[text, image, PDF]`: the text keeps its place, and the media have the numbers of their items."""
    return Case(
        needs=_IMAGE | _PDF,
        tools=[returning("search", "Finds documents.", lambda: ["2 hits", GREEN, REPORT])],
        script=[
            Answer((Call("search"),), usage=Usage(30, 10)),
            _sees(GREEN, REPORT, says="A green cover; the total is 42 EUR.", usage=Usage(510, 14)),
        ],
        steps=[ask("Find the report.", text="A green cover; the total is 42 EUR.")],
    )


@case
def tool_returns_nested_media() -> Case:
    """A PDF is two levels deep in a result: the model gets its bytes, or an error that names the tool and the place."""
    deep = returning("find_report", "Finds the report.", lambda: ["found", [REPORT]])
    return Case(
        needs=_PDF,
        tools=[deep],
        script=[
            Answer((Call("find_report"),), usage=Usage(30, 10)),
            Answer((Say("The total is 42 EUR."),), usage=Usage(310, 9)),
        ],
        steps=[ask("Read me the report.", text="The total is 42 EUR.")],
    )


@case
def tool_returns_pdf() -> Case:
    """A tool returns a PDF, and the model gets its bytes."""
    return Case(
        everywhere=True,
        needs=_PDF,
        tools=[returning("get_report", "Fetches the report.", lambda: REPORT)],
        script=[
            Answer((Call("get_report"),), usage=Usage(30, 10)),
            _sees(REPORT, says="The total is 42 EUR.", usage=Usage(310, 9)),
        ],
        steps=[ask("What is the total in the report?", text="The total is 42 EUR.")],
    )


@case
def parallel_tools_first_returns_image() -> Case:
    """There are two parallel calls, and the *first* returns an image: every result comes before the moved image."""
    return Case(
        needs=_IMAGE,
        tools=[returning("draw", "Draws a picture.", lambda: BLUE), weather],
        script=[
            Answer((Call("draw"), Call("get_weather", {"city": "Oslo"})), usage=Usage(60, 28)),
            _sees(BLUE, says="A blue square, and 9C in Oslo.", usage=Usage(280, 12)),
        ],
        steps=[ask("Draw something and check Oslo.", text="A blue square, and 9C in Oslo.")],
    )


@case
def parallel_tools_return_images() -> Case:
    """There are three parallel calls, and two return images: the media are in the order of the calls, each with its
    call id.
    """
    return Case(
        needs=_IMAGE,
        tools=[
            returning("draw_red", "Draws in red.", lambda: RED),
            weather,
            returning("draw_green", "Draws in green.", lambda: [GREEN]),
        ],
        script=[
            Answer(
                (Call("draw_red"), Call("get_weather", {"city": "Rome"}), Call("draw_green")),
                usage=Usage(80, 40),
            ),
            _sees(RED, GREEN, says="Red, 27C, green.", usage=Usage(490, 9)),
        ],
        steps=[ask("Draw in red, check Rome, draw in green.", text="Red, 27C, green.")],
    )


@case
def image_alone() -> Case:
    """A user turn has an image and nothing else: it is sent without an empty text."""
    return Case(
        needs=frozenset({"image_in_user"}),
        script=[_sees(GREEN, says="A green square.", usage=Usage(160, 6))],
        steps=[ask(GREEN, text="A green square.")],
    )
