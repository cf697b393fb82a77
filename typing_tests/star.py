"""`from ellmer_core import *` has every public name for type checkers, too."""

from typing import assert_type

from ellmer_core import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]  # it is what is tested

assert_type(chat_openai("Be brief.").chat("Hi"), str)  # noqa: F405
