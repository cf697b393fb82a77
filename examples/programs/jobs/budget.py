"""Many prompts with one budget: what it does not pay for is not asked, and the rest is asked the next day.

It prints:

    answered: ['0', '2', '4']
    not asked: [3, 4, 5]
    done: 6
"""

import warnings

from ellmer_core import EllmerWarning, UsageLimitError, UsageLimits, chat_openai, parallel_chat_text

warnings.simplefilter("ignore", EllmerWarning)  # how many prompts were not sent: the program says it

QUESTIONS = [f"What is {n} plus {n}?" for n in range(6)]


def main() -> None:
    chat = chat_openai("Answer with a number.", model="gpt-4.1")
    chat.usage_limits = UsageLimits(requests=3, per="chat")
    today = parallel_chat_text(chat, QUESTIONS, path="answers.jsonl", on_error="continue")
    print("answered:", [answer for answer in today if answer is not None])
    print(
        "not asked:", [place for place, error in today.errors.items() if isinstance(error, UsageLimitError)]
    )

    chat.usage_limits = UsageLimits(cost=1.00, per="chat")
    tomorrow = parallel_chat_text(chat, QUESTIONS, path="answers.jsonl")
    print("done:", sum(answer is not None for answer in tomorrow))


if __name__ == "__main__":
    main()
