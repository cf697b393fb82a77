"""Questions with known answers, asked of two models at once, and graded by a third.

It prints:

    gpt-4.1: 2 of 2, ['42', '4']
    gpt-5.6-terra: 2 of 2, ['42', '4']
"""

from dataclasses import dataclass

from ellmer_core import Chat, chat_openai, parallel_chat_structured, parallel_chat_text


@dataclass
class Grade:
    answer: int
    target: int


CASES = [("What is 6 * 7?", 42), ("What is 2 + 2?", 4)]


def score(chat: Chat, judge: Chat) -> str:
    answers = parallel_chat_text(chat, [question for question, _ in CASES], on_error="continue")
    prompts = [
        f"answer: {answer}, target: {target}" for answer, (_, target) in zip(answers, CASES, strict=True)
    ]
    grades = parallel_chat_structured(judge, prompts, type=Grade)
    right = sum(grade is not None and grade.answer == grade.target for grade in grades)
    return f"{chat.get_model()}: {right} of {len(CASES)}, {list(answers)}"


def main() -> None:
    judge = chat_openai("Write down both numbers.", model="gpt-5.6-terra")
    for model in ("gpt-4.1", "gpt-5.6-terra"):
        print(score(chat_openai("Answer with a number.", model=model), judge))


if __name__ == "__main__":
    main()
