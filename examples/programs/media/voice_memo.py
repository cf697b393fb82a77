"""A voice message becomes text and tasks. A model that hears nothing is skipped.

It prints:

    gpt-4.1 hears nothing
    I see an audio file of 16,044 bytes.
    tasks: ['said', 'what']
"""

import wave
from dataclasses import dataclass

from ellmer_core import ContentError, chat_openai_completions, content_file


@dataclass
class Memo:
    transcript: str
    tasks: list[str]


def main() -> None:
    with wave.open("memo.wav", "wb") as file:  # a second of silence, instead of your message
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(16_000))
    memo = content_file("memo.wav")
    for model in ("gpt-4.1", "gpt-audio"):
        chat = chat_openai_completions(model=model)
        try:
            print(chat.chat("Write down what is said.", memo))
        except ContentError:
            print(model, "hears nothing")
            continue
        found = chat.chat_structured("What is said, and what is to do?", memo, type=Memo)
        print("tasks:", found.tasks)


if __name__ == "__main__":
    main()
