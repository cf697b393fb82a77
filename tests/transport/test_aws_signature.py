"""AWS signatures compared with those of botocore.

The signatures are what `botocore.auth.SigV4Auth(keys, "bedrock", region).add_auth()` of botocore 1.43.11 wrote
for these very requests, with its clock set to the given time. The keys are AWS's own examples.
"""

import pytest

from ellmer_core.transport.aws_signature import AwsKeys, signed

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
ARN = "arn%3Aaws%3Abedrock%3Aus-west-2%3A123456789012%3Ainference-profile%2Fus.meta.llama4-maverick-17b-instruct-v1%3A0"
GOLDEN = {
    "an escaped colon in the path": (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-micro-v1%3A0/converse",
        '{"messages":[]}',
        (0, None, "us-east-1"),
        "2f0adae6b1e01c1f31c090a8890aa16d24b5232fcd7640e4fa57d8ae914f0a10",
    ),
    "a session token, and text beyond ASCII": (
        "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-sonnet-5/converse-stream",
        '{"messages":[{"role":"user","content":[{"text":"hé ✓"}]}]}',
        (1790000000, "FwoGZXIvYXdzEXAMPLE//token==", "eu-central-1"),
        "3fbe2c8da6a9a209b11a8bd6974e577fdee156e91bb1bdd1c186bc7d128f4a87",
    ),
    "an ARN for a model, and a time between two seconds": (
        f"https://bedrock-runtime.us-west-2.amazonaws.com/model/{ARN}/converse",
        "{}",
        (1763361502.75, None, "us-west-2"),
        "948458ac94976c8b2632de0c74dbd7f22ec915ad6123e3f73239548676b9cab4",
    ),
    "a port, and no body": (
        "http://127.0.0.1:8080/c/case/nonce/model/m~1_.-x/converse",
        "",
        (1763361502, "t", "us-east-1"),
        "13b65c9e513155af8a1cf4ffd8cb37681bee020c394a529035ca353cb36f5cf8",
    ),
    "capitals in the host, and the usual port": (
        "https://Example.AMAZONAWS.com:443/model/x/converse",
        "{}",
        (1763361502, None, "us-east-1"),
        "f69f1c746851cc77194540c7cfb7efca641c6649b06488a37db9ca253a9d045e",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_signatures_are_those_of_botocore(name):
    url, body, (at, token, region), signature = GOLDEN[name]
    keys = AwsKeys("AKIDEXAMPLE", SECRET, token)

    headers = signed(url, body.encode(), at, keys=keys, region=region, service="bedrock")

    assert headers["authorization"].endswith(f"Signature={signature}")


def test_the_headers_name_the_key_the_scope_and_what_was_signed():
    headers = signed(
        "https://x.amazonaws.com/model/m/converse",
        b"{}",
        1763361502,
        keys=AwsKeys("AKIDEXAMPLE", SECRET, "token"),
        region="us-east-1",
        service="bedrock",
    )

    assert headers["x-amz-date"] == "20251117T063822Z"
    assert headers["x-amz-security-token"] == "token"
    assert headers["authorization"].startswith(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20251117/us-east-1/bedrock/aws4_request, "
        "SignedHeaders=host;x-amz-date;x-amz-security-token, Signature="
    )
    assert "host" not in headers


def test_keys_do_not_print_their_secrets():
    assert repr(AwsKeys("AKIDEXAMPLE", SECRET, "token")) == "AwsKeys(access_key='AKIDEXAMPLE')"
