"""A question with a picture, and providers that may be down or that see no pictures: the next one that sees it answers.

It prints:

    I see a red image of 32 by 32 pixels.
    answered by: claude-sonnet-5
    without anybody who sees: …
    the warning says what was lost: True
"""

import logging
import warnings

from PIL import Image

from ellmer_core import Chat, EllmerWarning, chat_anthropic, chat_fallback, chat_openai, content_image_file
from ellmer_core import chat_openai_compatible as compatible

logging.basicConfig(level=logging.ERROR)  # a change of the provider is a warning


def down() -> Chat:
    return compatible(base_url="http://127.0.0.1:9/v1", api_key="none", model="m", max_tries=1)


def blind() -> Chat:
    """Returns a chat with a model of OpenAI's that reads only text."""
    return chat_openai(model="o3-mini")


def main() -> None:
    Image.new("RGB", (32, 32), "red").save("red.png")
    picture = content_image_file("red.png")

    steady = chat_fallback([down(), blind(), chat_anthropic(model="claude-sonnet-5")])
    print(steady.chat("What is on this picture?", picture))
    last = steady.last_turn("assistant")
    print("answered by:", last.json["model"] if last and last.json else "nobody")

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", EllmerWarning)
        print("without anybody who sees:", chat_fallback([down(), blind()]).chat("What is on it?", picture))
    print("the warning says what was lost:", any("image" in str(each.message) for each in told))


if __name__ == "__main__":
    main()
