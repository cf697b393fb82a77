"""A hostile MCP server over stdio; `python hostile_mcp_server.py mute|pages|crowd|bomb`."""

import json
import sys
import time

REF = {f"d{n}": {"properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "abcdefgh"}} for n in range(20)}
BOMB = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": {**REF, "d20": {}}}
WHO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "hostile", "version": "1"},
}


def tools(count, schema):
    return [{"name": f"tool_{n}", "inputSchema": schema} for n in range(count)]


LISTS = {
    "pages": {"tools": [], "nextCursor": "more"},
    "crowd": {"tools": tools(1001, {"type": "object"})},
    "bomb": {"tools": tools(1, BOMB)},
}


def result(method):
    if method == "initialize":
        return {"result": WHO}
    if method == "tools/list":
        return {"result": LISTS[sys.argv[1]]}
    return {"error": {"code": -32601, "message": "no such method"}}


while sys.argv[1] == "mute":
    time.sleep(1)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        said = {"jsonrpc": "2.0", "id": asked["id"], **result(asked["method"])}
        sys.stdout.write(f"{json.dumps(said)}\n")
        sys.stdout.flush()
