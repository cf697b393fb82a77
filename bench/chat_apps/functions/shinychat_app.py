"""A chat with shinychat and chatlas, with what they offer beyond the smallest page."""

import os

import shinychat
from chatlas import ChatOpenAICompletions
from shiny import App, Inputs, Outputs, Session, ui


def get_weather(city: str) -> str:
    """Gets the weather in a city."""
    return f"Sunny in {city}, 21 degrees."


def server(_inputs: Inputs, _outputs: Outputs, _session: Session) -> None:
    client = ChatOpenAICompletions(model="gpt-4.1", base_url=os.environ["BASE"], api_key="any-key")
    client.register_tool(get_weather)
    shinychat.Chat("chat", client=client)


drawer = shinychat.chat_drawer(
    ui.input_select("model", "Model", ["gpt-4.1", "gpt-4.1-mini"]), title="Settings"
)
app = App(shinychat.page_chat("Chat", drawer=drawer, allow_attachments=True), server)
