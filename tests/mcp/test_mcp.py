"""Tools over MCP, with real servers: processes over stdin and stdout, and over HTTP on 127.0.0.1."""

import asyncio
import json
import os
import sys
import traceback
from functools import wraps
from pathlib import Path

import pytest
from servers.mcp import over_http, over_stdio

from ellmer_core import ConnectError, chat_openai_completions, tool, tool_annotations
from ellmer_core.contents.content import (
    ContentFile,
    ContentImageInline,
    ContentPDF,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.errors import EllmerWarning, UsageError
from ellmer_core.schemas.type_functions import to_json_schema
from ellmer_core.tool_execution import ainvoke, invoke
from ellmer_core.wire.shared.schemas import json_schema

pytest.importorskip("mcp")

from mcp.types import CallToolResult

from ellmer_core.mcp import mcp_server, mcp_tools
from ellmer_core.mcp.conversion import blocks_of, result_of
from ellmer_core.schemas.type_functions import arguments_of

PEER = [sys.executable, str(Path(__file__).with_name("mcp_peer.py"))]
OURS = """
import sys
from ellmer_core.contents.content import ContentImageInline
from ellmer_core.mcp import serve_mcp

def add(a: int, b: int = 1) -> int:
    return a + b

async def draw() -> list:
    return ["Here:", ContentImageInline("image/png", "iVBORw0KGgo="), {"x": 1}]

def fail():
    raise ValueError("no such file")

serve_mcp([add, draw, fail], port=int(sys.argv[1]) if sys.argv[1:] else None)
"""
SERVE = [sys.executable, "-c", OURS]


def run_async(test):
    @wraps(test)
    def run(**fixtures):
        asyncio.run(test(**fixtures))

    return run


transports = pytest.mark.parametrize("transport", [over_stdio, over_http])


def result(tool, **arguments):
    return invoke(ContentToolRequest("c", tool.name, arguments, tool=tool))


@pytest.fixture(scope="module")
def peer():
    with mcp_tools(PEER) as tools:
        yield {tool.name: tool for tool in tools}


@transports
def test_the_tools_of_a_server(transport):
    with transport(PEER) as where, mcp_tools(where, prefix="peer_", defer=True) as tools:
        said = {tool.name: tool for tool in tools}
        assert all(tool.deferred for tool in tools)

        assert list(said) == ["peer_weather", "peer_draw", "peer_files_fail", "peer_end"]
        assert result(said["peer_weather"], place={"city": "Köln"}, days=2).value == "Köln, DE: 2 sunny days"


def test_a_tool_is_described_as_the_server_does(peer):
    weather = peer["weather"]

    assert not weather.deferred
    assert (weather.description, weather.title()) == ("Gets the weather.", "The weather")
    assert weather.annotations["read_only_hint"] is True
    schema = to_json_schema(weather.arguments)
    assert schema["required"] == ["place"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["place"]["properties"]["city"] == {"type": "string"}
    assert "$ref" not in json.dumps(schema)


def test_images_and_pdfs_are_contents_and_what_no_model_sees_is_named(peer):
    text, image, pdf, audio, link = result(peer["draw"]).value

    assert text == "Here:"
    assert image == ContentImageInline("image/png", "iVBORw0KGgo=")
    assert pdf == ContentPDF("application/pdf", "JVBERi0xLjc=", "plan.pdf")
    assert audio == "[audio/wav, which this model cannot be shown]"
    assert link == "more: https://example.com/more"


WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


@pytest.mark.parametrize("claimed", ["audio/wav", "audio/x-wav", "application/octet-stream"])
def test_sound_is_a_content_with_the_type_of_its_bytes(claimed):
    block = {"type": "audio", "data": WAV, "mimeType": claimed}
    sound = ContentFile("audio/wav", WAV, "audio.wav")
    assert result_of(CallToolResult.model_validate({"content": [block]})).value == sound
    resource = {"uri": "file:///a", "blob": WAV, "mimeType": "audio/wav"}
    assert (
        result_of(
            CallToolResult.model_validate({"content": [{"type": "resource", "resource": resource}]})
        ).value
        == sound
    )


@pytest.mark.parametrize("data", ["", "aGk=", "UklGRg==", "RIFF!", f"{WAV}!", WAV[:-2]])
def test_sound_that_is_none_is_named(data):
    block = {"type": "audio", "data": data, "mimeType": "audio/wav"}
    named = result_of(CallToolResult.model_validate({"content": [block]})).value
    assert named == "[audio/wav, which this model cannot be shown]"


def test_sound_of_our_server_is_sound_for_our_client():
    sound = ContentFile("audio/wav", WAV, "audio.wav")
    blocks = blocks_of(ContentToolResult(["Here:", sound]))
    assert result_of(CallToolResult(content=blocks)).value == ["Here:", sound]


def test_an_error_of_the_server_is_one_of_the_tool(peer):
    assert "no such file" in result(peer["files_fail"]).error
    assert "place" in result(peer["weather"], place="Köln").error


def test_a_server_that_ends_is_an_error_of_the_tool():
    with mcp_tools(PEER) as tools:
        end = next(tool for tool in tools if tool.name == "end")
        assert result(end).error
        assert result(end).error

    assert "not running" in str(result(end).error)


@run_async
async def test_async_tools_do_not_block(peer):
    request = ContentToolRequest("c", "weather", {"place": {"city": "Bonn"}}, tool=peer["weather"])
    both = await asyncio.gather(ainvoke(request), ainvoke(request))

    assert [one.value for one in both] == ["Bonn, DE: 1 sunny days"] * 2


def asks(reply, *messages):
    """Returns a provider's answers: these calls, then a text."""
    for message in messages:
        body = {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}]}
        yield reply([json.dumps(body).encode()])


@pytest.mark.parametrize("twice", [False, True], ids=["blocking", "async"])
def test_a_chat_uses_them(server, reply, peer, twice):
    function = {"name": "weather", "arguments": '{"place": {"city": "Köln"}}'}
    call = {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    server.answers(*asks(reply, call, {"content": "Sunny."}))
    chat = chat_openai_completions(model="m", api_key="k", base_url=server.url, echo="none")
    chat.register_tools(peer.values())
    said = asyncio.run(chat.chat_async("Well?")) if twice else chat.chat("Well?")

    assert said == "Sunny."
    assert server.asked[1].json["messages"][-1]["content"] == "Köln, DE: 1 sunny days"


def test_the_process_has_our_variables_and_ends_with_the_block(tmp_path):
    note = tmp_path / "pid"
    code = f"import os, runpy; open(os.environ['NOTE'], 'w').write(str(os.getpid())); runpy.run_path({PEER[1]!r}, run_name='__main__')"
    with mcp_tools([sys.executable, "-c", code], env={"NOTE": str(note)}) as tools:
        os.kill(int(note.read_text()), 0)
        assert tools

    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


@run_async
async def test_an_async_block():
    async def double(x: int) -> int:
        return 2 * x

    async with mcp_tools(mcp_server([double])) as tools:
        assert (await ainvoke(ContentToolRequest("c", "double", {"x": 4}, tool=tools[0]))).value == "8"


def test_no_server():
    with pytest.raises(
        ConnectError, match=r"No MCP server answers at no-such-command-here: FileNotFoundError: [^.]*$"
    ):
        mcp_tools(["no-such-command-here"]).__enter__()
    with pytest.raises(ConnectError, match=r"No MCP server answers at http://127\.0\.0\.1:1/mcp"):
        mcp_tools("http://127.0.0.1:1/mcp").__enter__()
    with pytest.raises(ConnectError, match="It wrote nothing: run it by hand") as ended:
        mcp_tools([sys.executable, "-c", "pass"]).__enter__()
    assert len("".join(traceback.format_exception(ended.value)).splitlines()) < 30


def test_a_command_in_one_string_is_not_taken_for_a_url():
    with pytest.raises(UsageError, match="server= must be a URL"):
        mcp_tools("uvx mcp-server-time")


def test_what_a_program_wrote_before_it_ended_is_quoted(capfd):
    code = r"""
import os, sys
for n in range(500): print("line", n, "x" * 1000, file=sys.stderr)
print(os.environ["SHOP_TOKEN"], sys.argv[2], "password: hunter2!", "\x1b[2J no config", file=sys.stderr)
"""
    command = [sys.executable, "-c", code, "--api-key", "k9-argument-of-it"]
    with pytest.raises(ConnectError) as ended:
        mcp_tools(command, env={"SHOP_TOKEN": "t7-variable-of-it"}).__enter__()

    *_, last = str(ended.value).splitlines()
    assert last == r"[key] [key] password: [key] \x1b[2J no config"
    assert "line 499 xxx" in str(ended.value)
    assert len(str(ended.value)) < 4000
    assert "of-it" not in str(ended.value)
    assert "line 0 xxx" in capfd.readouterr().err  # a person sees all of it


def test_headers_go_with_the_requests(server, reply):
    server.answers(*[reply([b"{}"], status=401)] * 3)
    with pytest.raises(ConnectError):
        mcp_tools(f"{server.url}/mcp", headers={"x-key": "secret"}).__enter__()

    assert server.asked[0].headers["x-key"] == "secret"
    assert "secret" not in repr(mcp_tools("http://x", headers={"x-key": "secret"}))


def test_two_tools_of_one_name():
    def named(*names):
        return mcp_server([tool(lambda name=name: name, name=name) for name in names])

    with mcp_tools(named("a_b", "a-b")) as tools:
        assert len(tools) == 2
    one, other = "x" * 63 + "1", "x" * 63 + "2"
    with (
        pytest.warns(EllmerWarning, match="The second is 'a_x+_2'"),
        mcp_tools(named(one, other), prefix="a_") as tools,
    ):
        said = [invoke(ContentToolRequest("c", each.name, {}, tool=each)).value for each in tools]
    assert [each.name for each in tools] == ["a_" + "x" * 62, "a_" + "x" * 57 + "_2"]
    assert said == [one, other]


def test_an_image_deep_in_a_result_follows_it_with_its_place_and_without_the_id_that_a_server_does_not_know():
    def draw():
        return [{"title": "a", "picture": ContentImageInline("image/png", "iVBORw0KGgo=")}]

    with mcp_tools(mcp_server([draw])) as tools:
        pointer, opening, image, closing = invoke(ContentToolRequest("c", "draw", {}, tool=tools[0])).value

    assert pointer == '[{"title":"a","picture":"[see below: item 1.picture]"}]'
    assert (opening, closing) == ('<content item="1.picture">', "</content>")
    assert image.type == "image/png"


def test_schemas_that_our_types_cannot_say():
    tree = {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}}
    both = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    inner = {"a": {"type": "string"}, "b": {"$ref": "#/$defs/tree"}}
    schema = {"type": "object", "properties": inner, "required": ["b"], "$defs": {"tree": tree}, **both}
    found = arguments_of(schema)

    assert list(found.properties) == ["a", "b"]
    assert [one.required for one in found.properties.values()] == [False, True]
    sent = json_schema(found)
    assert sent["properties"]["b"] == {"$ref": "#/$defs/tree"}
    assert sent["$defs"] == to_json_schema(found)["$defs"] == {"tree": tree}
    nowhere = arguments_of({"type": "object", "properties": {"b": {"$ref": "#/$defs/gone"}}})
    assert to_json_schema(nowhere)["properties"] == {"b": {}}
    assert arguments_of({"type": "object"}).additional_properties is True


# Ours, served -----------------------------------------------------------------------------------------------


@transports
def test_our_tools_served(transport):
    with transport(SERVE) as where, mcp_tools(where) as tools:
        add, draw, fail = tools

        assert result(add, a=2).value == "3"
        assert result(draw).value == ["Here:", ContentImageInline("image/png", "iVBORw0KGgo="), '{"x":1}']
        assert "no such file" in result(fail).error
        assert "`a` is missing" in result(add).error


@run_async
async def test_the_sdk_sees_what_we_serve():
    from mcp import Client

    def add(a: int, b: int = 1) -> int:
        """Adds.

        Args:
            a: The first.
        """
        return a + b

    served = mcp_server([tool(add, annotations=tool_annotations("Add up", read_only_hint=True))])
    async with Client(served) as client:
        [listed] = (await client.list_tools()).tools
        unknown = await client.call_tool("nobody", {})

    assert (listed.name, listed.title, listed.description) == ("add", "Add up", "Adds.")
    assert listed.annotations.read_only_hint is True
    assert listed.input_schema["properties"]["a"] == {"type": "integer", "description": "The first."}
    assert listed.input_schema["required"] == ["a"]
    assert unknown.is_error
    assert unknown.content[0].text == "Unknown tool `nobody`."  # the field says that it is an error
