"""A bot hands the conversation to a person, who answers in it; later the bot goes on.

It prints:

    A colleague will answer you here.
    tickets: ['Call a person: my parcel is lost.']
    You are welcome.
    the history has 6 turns
"""

import json

from ellmer_core import AssistantTurn, ToolContext, chat_openai, tool


@tool(final=True)
def call_a_person(reason: str, context: ToolContext[list[str]]) -> str:
    """Hands the conversation over to a person."""
    context.deps.append(reason)
    return "A colleague will answer you here."


def main() -> None:
    tickets: list[str] = []
    bot = chat_openai(model="gpt-5.6-terra", deps=tickets)
    bot.register_tool(call_a_person)
    print(bot.chat("Call a person: my parcel is lost."))
    print("tickets:", tickets)

    desk = chat_openai(model="gpt-5.6-terra")  # in the program of the colleague
    desk.restore(json.loads(json.dumps(bot.record())))
    desk.add_turn(AssistantTurn("Here is Eva. Your parcel is found."))

    bot.set_turns(desk.get_turns())
    print(bot.chat("Thank you!"))
    print(f"the history has {len(bot.get_turns())} turns")


if __name__ == "__main__":
    main()
