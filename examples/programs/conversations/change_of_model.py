"""A conversation that moves to a cheaper model, with other parameters, and that sends only its last turns.

It prints:

    first: gpt-4.1
    then: gpt-4.1-mini, {'temperature': 0.0}
    sent: 4 of 6 turns
    tokens of each answer: …
    the provider has models: True
"""

from ellmer_core import SystemTurn, Turn, chat_openai, models_openai, params

sent: list[str] = []


def last_three(turns: list[Turn]) -> list[Turn]:
    system = [turn for turn in turns if isinstance(turn, SystemTurn)]
    rest = [turn for turn in turns if not isinstance(turn, SystemTurn)]
    chosen = [*system, *rest[-3:]]  # the last one is the new message
    sent.append(f"{len(chosen)} of {len(turns)}")
    return chosen


def main() -> None:
    chat = chat_openai("You are terse.", model="gpt-4.1")
    print("first:", chat.get_model())
    chat.chat("Say hello.")

    chat.set_model("gpt-4.1-mini")
    chat.set_params(params(temperature=0.0))
    print(f"then: {chat.get_model()}, {chat.get_params()}")
    chat.set_system_prompt("You are very terse.")
    assert chat.get_system_prompt() == "You are very terse."
    chat.chat("Count to three.")

    remove = chat.on_history(last_three)
    chat.chat("Thank you.")
    remove()
    print(f"sent: {sent[0]} turns")
    print("tokens of each answer:", [row["output"] for row in chat.get_tokens()])
    print("the provider has models:", len(models_openai()) > 0)


if __name__ == "__main__":
    main()
