"""Providers in a cloud: the URLs of Vertex AI, and the clouds' credentials."""

import json
from types import SimpleNamespace

import pytest
from wires.every_provider import WIRES, made

import ellmer_core
from ellmer_core.contents.content import ContentImageRemote, ContentToolResult
from ellmer_core.contents.turns import UserTurn
from ellmer_core.errors import UsageError
from ellmer_core.providers import _cloud
from ellmer_core.providers._construction import chat
from ellmer_core.providers.aws_bedrock import AWSBedrock

pytestmark = pytest.mark.usefixtures("variables")


# Vertex AI --------------------------------------------------------------------------------------------------


def vertex(**options):
    return chat("google_vertex/gemini-3-flash", credentials=lambda: "token", **options).wire


@pytest.mark.parametrize(
    ("location", "host"),
    [(None, "aiplatform"), ("global", "aiplatform"), ("europe-west4", "europe-west4-aiplatform")],
)
def test_vertex_urls(location, host):
    request = vertex(location=location).request([UserTurn("Hi")], stream=True)

    assert request.url == (
        f"https://{host}.googleapis.com/v1beta1/projects/proj/locations/{location or 'global'}"
        "/publishers/google/models/gemini-3-flash:streamGenerateContent?alt=sse"
    )
    assert request.headers == {"authorization": "Bearer token"}
    assert chat("google_vertex/m", api_key="k").wire.headers() == {"x-goog-api-key": "k"}


def test_vertex_knows_no_ids_and_fetches_files():
    call = {"functionCall": {"id": "srv", "name": "draw", "args": {}}, "thoughtSignature": "sig"}
    turn = vertex().turn({"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]})
    result = UserTurn([ContentToolResult("x", request=turn.tool_requests[0])])
    photo = ContentImageRemote("gs://bucket/photo.png")

    assert '"id"' not in json.dumps(vertex().messages([turn, result]))
    assert vertex().message(turn)[0]["parts"][0]["thoughtSignature"] == "sig"
    assert vertex().content(photo) == {
        "fileData": {"mimeType": "image/png", "fileUri": "gs://bucket/photo.png"}
    }


@pytest.mark.parametrize(
    ("address", "reader"), [("gs://bucket/a.png", "Google/Vertex"), ("s3://bucket/a.png", "AWS/Bedrock")]
)
def test_a_cloud_reads_its_own_storage_only(address, reader):
    """OpenAI refuses such an address: a chat with one in its history would never be answered again."""
    assert {wire.provider for wire in WIRES if wire(model="m").fetches_from(address)} == {reader}


@pytest.mark.parametrize(
    "address", ["s3://b/a.png", "s3://Bucket/a.png", "s3://-bucket/a.png", "s3:///a.png"]
)
def test_bedrock_refuses_what_is_no_name_of_a_bucket(address):
    assert not AWSBedrock(model="m").fetches_from(address)


# Credentials that clouds keep -------------------------------------------------------------------------------


def test_a_missing_library_is_named(variables):
    variables.setattr(_cloud, "import_module", _nothing)
    with pytest.raises(UsageError, match="pip install google-auth requests"):
        chat("google_vertex/m")
    with pytest.raises(UsageError, match="pip install botocore"):
        chat("aws_bedrock/m")


def _nothing(name):
    raise ImportError(name)


def test_aws_profiles_are_read_by_botocore(variables):
    frozen = SimpleNamespace(access_key="AKID", secret_key="s", token="t")
    found = SimpleNamespace(get_frozen_credentials=lambda: frozen)
    asked = []

    def session(profile):
        asked.append(profile)
        return SimpleNamespace(get_credentials=lambda: found if profile else None)

    variables.setattr(_cloud, "import_module", lambda _: SimpleNamespace(Session=session))
    wire = chat("aws_bedrock/m", aws_profile="work").wire
    assert wire.credentials() == ellmer_core.AwsKeys("AKID", "s", "t")
    assert asked == ["work"]
    with pytest.raises(UsageError, match="There are no credentials for AWS"):
        chat("aws_bedrock/m")


def test_half_a_key_is_named(variables):
    variables.setenv("AWS_ACCESS_KEY_ID", "AKID")
    variables.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    with pytest.raises(UsageError, match="'AWS_SECRET_ACCESS_KEY' is not"):
        made("aws_bedrock/m").request([UserTurn("Hi")])


def test_google_credentials_that_are_not_there(variables):
    variables.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file.json")
    with pytest.raises(UsageError, match=r"There are no credentials for Google Cloud: .*/no/such/file\.json"):
        chat("google_vertex/m")


def test_google_credentials_are_refreshed_when_they_expire(variables):
    google = SimpleNamespace(valid=False, token="old")

    def refresh(_):
        google.valid, google.token = True, "new"

    google.refresh = refresh
    auth = SimpleNamespace(default=lambda scopes: (google, "proj"))
    transport = SimpleNamespace(Request=object)
    variables.setattr(
        _cloud, "import_module", {"google.auth": auth, "google.auth.transport.requests": transport}.get
    )

    assert chat("google_vertex/m").wire.headers() == {"authorization": "Bearer new"}
