"""An attribute of a chat is checked when it is set, and one that a chat does not have is refused."""

import pytest

import ellmer_core as ec


@pytest.fixture
def chat():
    return ec.chat_openai(api_key="k" * 20, model="gpt-5")


WRONG = {
    "echo": "loud",
    "max_tries": 0,
    "max_tool_rounds": True,
    "usage_limits": {"cost": 1},
    "ask_before": 5,
    "approve": "always",
    "when_busy": "queue",
    "wire": "openai",
    "fallbacks": None,
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_refused_and_the_old_one_stays(chat, name):
    before = getattr(chat, name)
    with pytest.raises(ec.UsageError, match=f"^{name}=? must be "):
        setattr(chat, name, WRONG[name])
    assert getattr(chat, name) is before


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("system_prompt", r"did you mean `set_system_prompt\(\)`\?"),
        ("sytem_prompt", r"did you mean `set_system_prompt\(\)`\?"),
        ("model", r"did you mean `set_model\(\)`\?"),
        ("tools", r"did you mean `register_tool\(\)` or `set_tools\(\)`\?"),
        ("aprove", "did you mean `approve`"),
        ("colour", "it has .*`approve`.*`set_params"),
    ],
)
def test_a_name_that_a_chat_does_not_have_is_refused(chat, name, meant):
    with pytest.raises(AttributeError, match=f"^`{name}` is not an attribute of Chat; {meant}"):
        setattr(chat, name, 5)
    assert not hasattr(chat, name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("model", r"did you mean `get_model\(\)`\?"),
        ("messages", r"did you mean `get_turns\(\)`\?"),
        ("turns", r"did you mean `get_turns\(\)`\?"),
        ("invoke", r"did you mean `chat\(\)`\?"),
        ("chat_structurd", r"did you mean `chat_structured\(\)`\?"),
        ("approv", "did you mean `approve`"),
        ("colour", r"dir\(\) lists"),
    ],
)
def test_a_name_that_is_read_and_that_a_chat_does_not_have_says_what_was_meant(chat, name, meant):
    with pytest.raises(AttributeError, match=f"^`{name}` is not an attribute of Chat; {meant}"):
        getattr(chat, name)
    assert getattr(chat, "_repr_pdf_", None) is None, "as notebooks ask"


def test_a_method_is_called_and_not_set_but_a_test_may_replace_it(chat):
    with pytest.raises(AttributeError, match=r"`get_model\(\)` is a method of Chat; it is called, not set"):
        chat.get_model = "gpt-5"
    chat.chat = lambda *_: "Hi"
    assert chat.chat("Hello") == "Hi"


def test_a_class_of_ones_own_has_attributes_of_its_own(chat):
    class Helper(ec.Chat):
        pass

    helper = Helper(chat.wire)
    helper.user = "Ada"
    with pytest.raises(ec.UsageError, match="max_tries= must be"):
        helper.max_tries = "3"
    assert helper.user == "Ada"


def test_a_right_value_is_set(chat):
    chat.echo, chat.approve, chat.when_busy, chat.ask_before = True, "defer", "wait", ["delete"]
    chat.max_tries, chat.max_tool_rounds, chat.deps = 1, 0, object()
    assert (chat.echo, chat.approve, chat.max_tool_rounds) == ("output", "defer", 0)
