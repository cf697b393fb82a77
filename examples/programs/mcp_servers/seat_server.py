"""An MCP server with the official SDK, which asks the user which seat to book. `web_questions.py` starts it."""

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

seats = MCPServer("seats", log_level="WARNING")


class Seat(BaseModel):
    seat: str
    meal: bool = False


def which_seat(to: str) -> Elicit[Seat]:
    return Elicit(f"Which seat to {to}?", Seat)


@seats.tool()
def book(to: str, seat: Annotated[Seat, Resolve(which_seat)]) -> str:
    """Books a flight to a city."""
    return f"{to}: {seat.seat}, {'a' if seat.meal else 'no'} meal"


if __name__ == "__main__":
    seats.run()
