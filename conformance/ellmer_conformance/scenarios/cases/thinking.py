"""Reasoning: it is sent back unchanged if the format requires it, and is not part of the answer."""

from __future__ import annotations

from ..case import Case, ask, case
from ..script import Answer, Call, Say, Think, Usage
from ._media_and_tools import weather


@case
def thinking_with_tools() -> Case:
    """The model thinks, calls, thinks and answers; a second question follows on that history.

    The providers show different parts of the thoughts, so the transcripts differ.
    """
    return Case(
        everywhere=True,
        printed_alike=False,
        tools=[weather],
        script=[
            Answer(
                (
                    Think("The user wants the weather. I should look it up."),
                    Call("get_weather", {"city": "Rome"}),
                ),
                usage=Usage(40, 45, reasoning=20),
            ),
            Answer((Think("27C is warm."), Say("It is warm: 27C.")), usage=Usage(90, 22, reasoning=8)),
            Answer((Say("You are welcome."),), usage=Usage(120, 6)),
        ],
        steps=[ask("Is it warm in Rome?", text="It is warm: 27C."), ask("Thanks!", text="You are welcome.")],
    )
