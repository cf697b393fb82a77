"""`python -m flows` (with `PYTHONPATH=tests`) follows the flows again and writes them into `docs/architecture.md`."""

from .page import PAGE, with_section
from .subjects import FLOWS, passed

if __name__ == "__main__":
    PAGE.write_text(with_section({name: passed(name) for name in FLOWS}), encoding="utf-8")
