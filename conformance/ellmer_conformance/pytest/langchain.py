"""The suite for packages that test a chat model with langchain-tests: one line more.

```python
from ellmer_conformance.pytest.langchain import LangChainConformance

class TestMine(ChatModelIntegrationTests):  # as it is
    ...

class TestConformance(LangChainConformance):
    standard, wire = TestMine, "openai-chat"
```

with `pytest_plugins = ["ellmer_conformance.pytest.plugin"]` in the conftest.py of the root.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..adapters.langchain_model import LangChainModel
from ..contract.readers import MODULES
from .suite import ConformanceSuite

__all__ = ["LangChainConformance"]


class LangChainConformance(ConformanceSuite):
    """All cases against the chat model of a test class of langchain-tests.

    `standard` is that class: its `chat_model_class` and `chat_model_params` are used. `wire` is the wire format that the model
    speaks, and `provider` (default: the one whose format it is) the provider.

    Examples:
        >>> class Standard:
        ...     chat_model_class = dict
        >>> class TestConformance(LangChainConformance):
        ...     standard, wire = Standard, "openai-chat"
        >>> TestConformance.adapter().wires
        {'openai-chat': ['openai']}
    """

    standard: ClassVar[type[Any]]
    wire: ClassVar[str]
    provider: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.adapter = staticmethod(lambda: _adapter(cls))  # pyright: ignore[reportAttributeAccessIssue]  # it needs no `self`


def _adapter(cls: type[LangChainConformance]) -> LangChainModel:
    """Returns the adapter for the model of the class."""
    standard = cls.standard()
    provider = cls.provider or MODULES[cls.wire].PROVIDER
    params = getattr(standard, "chat_model_params", {})
    return LangChainModel(standard.chat_model_class, params, cls.wire, provider)
