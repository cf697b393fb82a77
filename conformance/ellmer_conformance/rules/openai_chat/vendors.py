from ...rule import RuleBook
from ._book import book


def dialect(vendor: str) -> RuleBook:
    return book if vendor in {"", book.vendor} else book.extend(vendor, only=[])
