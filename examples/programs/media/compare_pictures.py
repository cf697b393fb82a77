"""Asks about two pictures, and then about the conversation.

It prints:

    I see a red image of 64 by 64 pixels and a blue image of 64 by 64 pixels.
    It was blue.
"""

from PIL import Image

from ellmer_core import chat_openai, content_image_file


def main() -> None:
    for colour in ("red", "blue"):
        Image.new("RGB", (64, 64), colour).save(f"{colour}.png")
    chat = chat_openai(model="gpt-5.6-terra")
    first, second = content_image_file("red.png"), content_image_file("blue.png", resize="none")
    print(chat.chat("What do these pictures show?", first, second))
    print(chat.chat("Which colour had the last picture?"))


if __name__ == "__main__":
    main()
