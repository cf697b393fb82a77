"""What conversations have cost, by conversation and by model.

It prints:

    support: 2 answers, 0.00020 dollars
    lab: 2 answers, 0.00027 dollars
    OpenAI/gpt-4.1: 28 tokens in, 18 out, 0.00020 dollars
    OpenAI/gpt-5.6-terra: 26 tokens in, 18 out, 0.00027 dollars
"""

from ellmer_core import chat, token_usage


def main() -> None:
    conversations = {"support": chat("openai/gpt-4.1"), "lab": chat("openai/gpt-5.6-terra")}
    for name, conversation in conversations.items():
        conversation.chat(f"Hello from {name}.")
        conversation.chat("And now?")
        cost = conversation.get_cost()
        shown = "unknown" if cost is None else f"{cost:.5f}"
        print(f"{name}: {len(conversation.get_tokens())} answers, {shown} dollars")
    for row in token_usage():
        tokens = f"{row['input']} tokens in, {row['output']} out"
        print(f"{row['provider']}/{row['model']}: {tokens}, {row['cost']:.5f} dollars")


if __name__ == "__main__":
    main()
