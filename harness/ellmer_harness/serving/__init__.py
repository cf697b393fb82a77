"""Plays a cassette on a port of this machine, for programs in other languages or other processes.

```python
with serving("tests/cassettes/chat.json") as server:
    subprocess.run(["node", "chat.js"], env={"OPENAI_BASE_URL": f"{server.url}/v1"})
server.missed  # what it asked for in vain
```

The modules import `tape`, `interception` and `exchange`. Only `cli` imports them.
"""

from __future__ import annotations

from .server import CassetteServer, serving

__all__ = ["CassetteServer", "serving"]
