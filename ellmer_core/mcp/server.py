"""Tools of ours, served to any MCP client."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..base.argument_checks import spelt
from ..contents import content as ours
from ..errors import UsageError
from ..schemas.type_functions import to_json_schema
from ..tool_execution import ainvoke
from ..tools.definition import tool
from .conversion import blocks_of

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, Tool

HINTS = ("read_only_hint", "open_world_hint", "idempotent_hint", "destructive_hint")


@spelt
def mcp_server(
    tools: Iterable[ours.ToolDef | Callable[..., Any]], *, name: str = "ellmer-core"
) -> Server[Any]:
    """Returns the SDK's low-level `Server` with these tools. Functions become tools, as with `tool()`."""
    try:
        from mcp.server import Server  # noqa: PLC0415 - imported when first needed
        from mcp.types import CallToolResult, ListToolsResult  # noqa: PLC0415 - mcp is an extra, and slow to import
    except ImportError as error:
        raise UsageError('MCP needs its SDK: pip install "ellmer-core[mcp]"') from error
    definitions = [each if isinstance(each, ours.ToolDef) else tool(each) for each in tools]
    offered: dict[str, ours.ToolDef] = {definition.name: definition for definition in definitions}

    async def listed(_context: object, _params: object) -> ListToolsResult:
        return ListToolsResult(tools=[_described(definition) for definition in offered.values()])

    async def called(_context: object, params: CallToolRequestParams) -> CallToolResult:
        request = ours.ContentToolRequest(
            "", params.name, params.arguments or {}, tool=offered.get(params.name)
        )
        result = await ainvoke(request)
        return CallToolResult(content=blocks_of(result), is_error=result.error is not None)

    return Server(name, on_list_tools=listed, on_call_tool=called)


@spelt
def serve_mcp(
    tools: Iterable[ours.ToolDef | Callable[..., Any]],
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    name: str = "ellmer-core",
) -> None:
    """Serves tools until it is stopped: over stdin and stdout, or, with `port`, over HTTP at `/mcp`."""
    import anyio  # noqa: PLC0415 - imported when first needed

    server = mcp_server(tools, name=name)
    if port is None:
        anyio.run(_over_stdio, server)
    else:
        import uvicorn  # noqa: PLC0415 - the SDK brings it

        uvicorn.run(server.streamable_http_app(host=host), host=host, port=port, access_log=False)


async def _over_stdio(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415 - imported when first needed

    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def _described(tool: ours.ToolDef) -> Tool:
    from mcp.types import Tool, ToolAnnotations  # noqa: PLC0415 - imported when first needed

    hints = {name: tool.annotations.get(name) for name in HINTS}
    return Tool(
        name=tool.name,
        title=tool.title(),
        description=tool.description,
        input_schema=to_json_schema(tool.arguments),
        annotations=ToolAnnotations(**hints) if any(hint is not None for hint in hints.values()) else None,
    )
