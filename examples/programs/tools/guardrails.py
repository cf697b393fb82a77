"""What goes in is judged, what a tool may do is checked, and what comes out has no card number.

It prints:

    not about the shop
    It is name Ann and card [card].
    I could not look it up.
"""

import re

from ellmer_core import ContentToolRequest, UsageLimits, tool, tool_reject
from ellmer_core.testing import Asked, ScriptedModel, tool_call

CARD = re.compile(r"\b(?:\d{4}[ -]?){3}\d{4}\b")


@tool
def find_customer(name: str) -> dict[str, str]:
    """Finds a customer."""
    return {"name": name, "card": "4111 1111 1111 1111"}


def refuse(request: ContentToolRequest) -> None:
    if request.arguments["name"] == "root":
        tool_reject("This customer is private.")


def told(asked: Asked) -> str:
    return (
        "It is name Ann and card 4111 1111 1111 1111."
        if "4111" in asked.results[0]
        else "I could not look it up."
    )


def main() -> None:
    judge = ScriptedModel({"about_the_shop": False}, {"about_the_shop": True}, {"about_the_shop": True})
    script = [step for name in ("Ann", "root") for step in (tool_call("find_customer", name=name), told)]
    clerk = ScriptedModel(*script).chat(usage_limits=UsageLimits(requests=4, at_limit="answer"))
    clerk.register_tool(find_customer)
    clerk.on_tool_request(refuse)
    for question in ("Write a poem.", "Who is Ann?", "Who is root?"):
        if judge.chat().chat_structured(question, type=dict[str, bool])["about_the_shop"]:
            print(CARD.sub("[card]", clerk.chat(question)))
        else:
            print("not about the shop")


if __name__ == "__main__":
    main()
