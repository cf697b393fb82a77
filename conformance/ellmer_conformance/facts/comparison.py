"""Compares tables of other projects with the evidence: LiteLLM's, models.dev's and LangChain's.

What such a table says of a model is a claim. A claim is contradicted if a recording, a rule, a profile's source or a provider's calendar
says otherwise. If nothing is known here, the claim is a question for the next reading.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ellmer_harness.recordings.untrusted_files import bounded_json, plain_bytes

from . import Cell, cells_of
from .features import FEATURES

__all__ = ["Claim", "Difference", "claims", "contradictions", "proved"]


@dataclass(frozen=True)
class Claim:
    """What a table says of a model.

    Args:
        provider: The provider, by its name here.
        model: The model's name at the provider.
        feature: The feature.
        answer: `"yes"` or `"no"`, or a day for the feature `"available"`.
        said: The table's own words.

    Examples:
        >>> Claim("openai", "gpt-4.1", "tools", "yes", "supports_function_calling: true").feature
        'tools'
    """

    provider: str
    model: str
    feature: str
    answer: str
    said: str


@dataclass(frozen=True)
class Difference:
    """A claim that evidence contradicts, or about which nothing is known here.

    Args:
        kind: `"contradicted"` or `"question"`.
        claim: The claim.
        cell: The cell that it is compared with; `None` for a question.

    Examples:
        >>> Difference("question", Claim("openai", "x", "tools", "yes", "tools: true"), None).plain()["kind"]
        'question'
    """

    kind: str
    claim: Claim
    cell: Cell | None

    def plain(self) -> dict[str, Any]:
        """Returns the difference as JSON."""
        proof = self.cell.evidence[0] if self.cell and self.cell.evidence else None
        return {
            "kind": self.kind,
            **vars(self.claim),
            "here": self.cell.answer if self.cell else "unknown",
            "wire": self.cell.wire if self.cell else "",
            "evidence": vars(proof) if proof else None,
        }

    def __str__(self) -> str:
        claim, proof = self.claim, self.cell.evidence[0] if self.cell and self.cell.evidence else None
        line = f"{claim.provider} {claim.model}: {claim.feature}: it says {claim.said}"
        if not self.cell or not proof:
            return f"{line}; unknown here"
        days = f" from {self.cell.since or self.cell.until}" if self.cell.feature == "available" else ""
        words = f" {proof.words!r}" if proof.words else ""
        return f"{line}; {self.cell.wire}: {self.cell.answer}{days}, {proof.kind}{words} {proof.day} {proof.link}"


def contradictions(claimed: Iterable[Claim]) -> list[Difference]:
    """Returns the claims that evidence contradicts, and then those about which nothing is known here.

    A claim is contradicted only if no wire format of the provider has the feature as claimed.

    Args:
        claimed: The claims.

    Examples:
        >>> contradictions([])
        []
    """
    claimed = [*claimed]
    told: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells_of(
        {(each.provider, each.model) for each in claimed}, {each.feature for each in claimed}
    ):
        told.setdefault((cell.provider, cell.model, cell.feature), []).append(cell)
    found = [
        _compared(claim, told.get((claim.provider, claim.model, claim.feature), [])) for claim in claimed
    ]
    return sorted(filter(None, found), key=lambda each: each.kind)


def _compared(claim: Claim, told: list[Cell]) -> Difference | None:
    sure = [cell for cell in told if cell.answer in {"yes", "no"} and not cell.inferred]
    if claim.feature == "available":
        wrong = [cell for cell in sure if (cell.since or cell.until) != claim.answer]
    else:
        wrong = [cell for cell in sure if cell.answer != claim.answer and not cell.until]
    if claim.feature == "cache_marks" and claim.answer == "yes":
        wrong = []  # a cache may need no marks
    if sure and wrong and len(wrong) == len(told):
        return Difference("contradicted", claim, min(wrong, key=_strength))
    return Difference("question", claim, None) if told and not sure else None


#: Hosts that leave out what a model does not take: an accepted request proves neither an option nor a file.
_LENIENT = {"openrouter", "together", "huggingface"}
_LEFT_OUT = {"content", "sampling", "thinking"}


def proved(differences: Iterable[Difference]) -> list[Difference]:
    """Returns the contradictions that can be sent to the table's project.

    A recording of the very model proves one, and so do the provider's document, and a refusal of an output format at every model.

    Args:
        differences: What `contradictions()` returns.

    Examples:
        >>> proved([Difference("question", Claim("openai", "x", "tools", "yes", "tools: true"), None)])
        []
    """
    return [each for each in differences if each.cell and _is_proof(each.cell)]


def _is_proof(cell: Cell) -> bool:
    from ..contract.rules import book  # noqa: PLC0415 - rules take a second to import

    proof, group = cell.evidence[0], next((f.group for f in FEATURES if f.id == cell.feature), "")
    if " says " in cell.note:  # another source disagrees
        return False
    if proof.kind == "accepted":
        return not (cell.provider in _LENIENT and group in _LEFT_OUT)
    if proof.kind == "rule":
        named = _plain_name(cell.model.rpartition("/")[2]) in _plain_name(proof.link)
        return named or (group == "output" and not book(cell.wire, cell.provider).rules[proof.place].models)
    return proof.kind in {"refused", "document"}


def _plain_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower())


def _strength(cell: Cell) -> int:
    """Returns the rank of the cell's best evidence: recordings are first."""
    return ["accepted", "refused", "rule", "document", "elsewhere"].index(cell.evidence[0].kind)


# --- What the tables say ---------------------------------------------------------------------------------


def claims(path: Path) -> list[Claim]:
    """Returns what a table says. Its form is recognised by its content.

    Args:
        path: A JSON file, or a Python file or a folder with LangChain's profiles.

    Raises:
        ValueError: It is none of the known tables.

    Examples:
        >>> claims(Path("model_prices_and_context_window.json"))  # doctest: +SKIP
        [Claim(provider='openai', …
    """
    if path.is_dir() or path.suffix == ".py":
        found = [claim for file in _profile_files(path) for claim in _of_langchain(file)]
    else:
        data = json.loads(bounded_json(plain_bytes(path)))
        if not isinstance(data, dict):
            raise ValueError("it is not a JSON object")
        found = list(_of_models_dev(data) if _is_models_dev(data) else _of_litellm(data))
    if not found:
        raise ValueError("it is not one of the known tables")
    return found


def _is_models_dev(data: dict[str, Any]) -> bool:
    return any(isinstance(each, dict) and isinstance(each.get("models"), dict) for each in data.values())


#: A model that thinks need not show it, nor take an effort: these say something of a feature only if they are false.
_IF_FALSE = {"supports_reasoning", "reasoning", "reasoning_output"}
_LITELLM = {
    "supports_function_calling": "tools",
    "supports_vision": "image_in_user",
    "supports_pdf_input": "pdf_in_user",
    "supports_audio_input": "audio_in_user",
    "supports_video_input": "video_in_user",
    "supports_response_schema": "structured_output",
    "supports_assistant_prefill": "prefill",
    "supports_system_messages": "system",
    "supports_parallel_function_calling": "parallel_calls",
    "supports_prompt_caching": "cache_marks",
    "supports_reasoning": "effort",
    "supports_tool_choice": "forced_call",
    "supports_native_streaming": "stream",
}
_ROUTES = {
    "gemini": "google",
    "vertex_ai-language-models": "vertex",
    "bedrock_converse": "bedrock",
    "together_ai": "together",
    "cohere_chat": "cohere",
    "azure_ai": "azure-foundry",
    "vertex_ai-anthropic_models": "vertex",
}


def _of_litellm(data: dict[str, Any]) -> Iterator[Claim]:
    for name, facts in data.items():
        if not isinstance(facts, dict) or facts.get("mode") not in {"chat", "responses"}:
            continue
        route = str(facts.get("litellm_provider", ""))
        provider, model = _ROUTES.get(route, route), name.removeprefix(f"{route}/")
        for key, feature in _LITELLM.items():
            if isinstance(facts.get(key), bool) and not (facts[key] and key in _IF_FALSE):
                yield _claim(provider, model, feature, key, facts[key])
        if day := _day(facts.get("deprecation_date")):
            yield Claim(provider, model, "available", day, f"deprecation_date: {day}")
        for parameter in facts.get("supported_openai_params") or ():
            if parameter in {"temperature", "top_p", "seed", "logprobs", "stop"}:
                yield Claim(provider, model, str(parameter), "yes", f"supported_openai_params: {parameter}")


def _claim(provider: str, model: str, feature: str, key: str, value: bool) -> Claim:
    return Claim(provider, model, feature, "yes" if value else "no", f"{key}: {str(value).lower()}")


def _day(value: object) -> str:
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        return ""


_MODELS_DEV = {
    "tool_call": "tools",
    "structured_output": "structured_output",
    "temperature": "temperature",
    "reasoning": "thinking_shown",
}
_IDS = {"amazon-bedrock": "bedrock", "google-vertex": "vertex", "togetherai": "together", "azure": "azure"}


def _of_models_dev(data: dict[str, Any]) -> Iterator[Claim]:
    for id, provider in data.items():
        models = provider.get("models") if isinstance(provider, dict) else None
        for model, facts in (models if isinstance(models, dict) else {}).items():
            for key, feature in _MODELS_DEV.items():
                if isinstance(facts.get(key), bool) and not (facts[key] and key in _IF_FALSE):
                    yield _claim(_IDS.get(id, id), model, feature, key, facts[key])
            taken: object = (facts.get("modalities") or {}).get("input")
            if not isinstance(taken, list):
                continue
            for kind in ("image", "pdf", "audio", "video"):
                yield _claim(
                    _IDS.get(id, id), model, f"{kind}_in_user", f"modalities.input has {kind}", kind in taken
                )


_LANGCHAIN = {
    "tool_calling": "tools",
    "structured_output": "structured_output",
    "image_inputs": "image_in_user",
    "pdf_inputs": "pdf_in_user",
    "audio_inputs": "audio_in_user",
    "video_inputs": "video_in_user",
    "image_url_inputs": "image_by_url",
    "image_tool_message": "image_in_result",
    "pdf_tool_message": "pdf_in_result",
    "temperature": "temperature",
    "tool_choice": "forced_call",
    "reasoning_output": "thinking_shown",
}
_PACKAGES = {
    "langchain_openai": "openai",
    "langchain_anthropic": "anthropic",
    "langchain_google_genai": "google",
    "langchain_mistralai": "mistral",
    "langchain_groq": "groq",
    "langchain_aws": "bedrock",
    "langchain_xai": "xai",
    "langchain_deepseek": "deepseek",
    "langchain_openrouter": "openrouter",
    "langchain_cohere": "cohere",
}


def _profile_files(path: Path) -> list[Path]:
    return sorted(path.rglob("data/_profiles.py")) if path.is_dir() else [path]


def _of_langchain(file: Path) -> Iterator[Claim]:
    """Yields the claims of one package. Its code is read as a literal, and not run."""
    provider = next((_PACKAGES[part] for part in file.parts if part in _PACKAGES), "")
    for node in ast.parse(file.read_text("utf-8")).body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        told = ast.literal_eval(value) if isinstance(value, ast.Dict) else {}
        for model, facts in told.items():
            for key, feature in _LANGCHAIN.items() if isinstance(facts, dict) else ():
                if isinstance(facts.get(key), bool) and not (facts[key] and key in _IF_FALSE):
                    yield _claim(provider, model, feature, key, facts[key])
