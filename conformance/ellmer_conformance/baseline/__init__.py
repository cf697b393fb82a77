"""Expected failures: `conformance-baseline.toml`, beside the adapter.

```toml
[[expect]]
rule = "ORD-003"                 # each of these five may be a glob, or a list; what is left out is any
wire = "openai-chat"
provider = "*"
case = "dangling_call"
mode = ["stream", "async-stream"]
reason = "the user's text is sent before the results"      # obligatory
issue = "https://github.com/me/my-adapter/issues/123"       # obligatory
until = 2027-03-01               # from that day on the entry fails the run
when = "openai < 4"              # only while this is installed
fingerprint = "sha256:…"         # of the failure, or a list: another failure is no expected one

[[flaky]]                        # may fail, may pass; `seen` says how often it failed, in 20 plays or more
rule = "STR-007"
seen = "3/40"
reason = "…"
issue = "…"
```

Known failures always run. Each name that an entry gives must still fail somewhere, or the entry is stale.
"""

from .entries import NAMES, Baseline, Entry
from .load_file import FILE, BaselineError, load
from .update_file import Change, updated

__all__ = ["FILE", "NAMES", "Baseline", "BaselineError", "Change", "Entry", "load", "updated"]
