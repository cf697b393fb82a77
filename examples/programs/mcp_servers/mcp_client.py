"""Uses the tools of an MCP server, which it starts.

It prints:

    tools: get_weather, add
    It is 21 °C in Paris.
"""

import sys
from pathlib import Path

from ellmer_core import chat_openai
from ellmer_core.mcp import mcp_tools

SERVER = Path(__file__).with_name("mcp_server.py")


def main() -> None:
    chat = chat_openai("Be brief.", model="gpt-5.6-terra")
    with mcp_tools([sys.executable, str(SERVER)]) as tools:
        print("tools:", ", ".join(each.name for each in tools))
        chat.register_tools(tools)
        print(chat.chat("What is the weather in Paris?"))


if __name__ == "__main__":
    main()
