"""The rules of the extra `secrets`: their further patterns are found, named and masked."""

import json

import pytest

pytest.importorskip("kingfisher_sdk")

from ellmer_harness.secrets.cassette_scan import masks, scan  # only where the extra is

# A key that our own patterns do not know.
TEXT = "it is FLWSECK_TEST-" + "0a1b2c3d4e5f" + " here"


def test_a_key_that_only_they_know(monkeypatch):
    from ellmer_harness.secrets import service_keys

    with_rules = [*scan({"said": TEXT})]
    monkeypatch.setattr(service_keys, "_scanner", lambda: None)
    assert (len(with_rules), [*scan({"said": TEXT})]) == (1, [])
    assert "what rule" in with_rules[0].what


def test_what_they_find_is_masked():
    [secret] = masks({"said": TEXT})
    assert not [*scan(json.loads(json.dumps({"said": TEXT.replace(secret, "REDACTED")})))]


def test_plain_text_has_none():
    assert not [*scan({"said": "The quick brown fox jumps over the lazy dog. " * 50})]


def test_a_key_that_both_know_is_one_finding():
    key = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY3zA5"
    assert [finding.what for finding in scan({"said": f"use {key} please"})] == ["a GitHub token"]
