"""Amazon Bedrock, https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..errors import UsageError
from ..transport.aws_signature import AwsKeys, signed
from ..wire.bedrock.to_wire import Bedrock
from ..wire.interfaces import Json, Request
from ..wire.shared.content_parts import Cache
from ._cloud import aws_credentials
from ._construction import Options, construct, setting, variable


@dataclass(frozen=True, eq=False, repr=False)
class AWSBedrock(Bedrock):
    """Converse in one region. Credentials are a Bedrock API key, or `AwsKeys` for signed requests."""

    default_model: ClassVar[str] = "us.anthropic.claude-sonnet-5"
    key_vars: ClassVar[tuple[str, ...]] = ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID")
    base_url_var: ClassVar[str] = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"

    region: str = "us-east-1"

    def headers(self) -> dict[str, str]:
        return {} if self.signs() else super().headers()

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        return self._with_keys(super().post(url, body, stream=stream), "POST")

    def get(self, url: str) -> Request:
        return self._with_keys(super().get(url), "GET")

    def _with_keys(self, request: Request, method: str) -> Request:
        """Returns a request that is signed when it is sent. The secret key is not sent, but it may be quoted."""
        keys = None if self.credentials is None else self.credentials()
        if not isinstance(keys, AwsKeys):
            return request
        sign = partial(self.signed, request.url, method=method)
        return replace(request, sign=sign, secrets=(keys.secret_key,))

    def models_url(self) -> str:
        """Returns the URL of the list of models, which is at the control plane. Its host has no `-runtime`."""
        return f"{self.base_url.rstrip('/').replace('bedrock-runtime', 'bedrock', 1)}/foundation-models"

    def signs(self) -> bool:
        """Tells whether requests are signed with keys. An API key is sent as a header."""
        return self.credentials is not None and isinstance(self.credentials(), AwsKeys)

    def signed(self, url: str, body: bytes, at: float, *, method: str = "POST") -> Mapping[str, str]:
        """Returns the headers that sign a request."""
        keys = self.credentials()
        return signed(url, body, at, keys=keys, region=self.region, service="bedrock", method=method)


def chat_aws_bedrock(
    system_prompt: str | None = None,
    *,
    region: str | None = None,
    aws_profile: str | None = None,
    cache: Cache = "none",
    **options: Unpack[Options],
) -> Chat:
    """Makes a chat with a model on Amazon Bedrock, over the Converse API.

    Key: `AWS_BEARER_TOKEN_BEDROCK`, else the credentials that AWS's own tools use (`AWS_ACCESS_KEY_ID`, a profile, a
    role). Region: `AWS_REGION`. Address: `AWS_ENDPOINT_URL_BEDROCK_RUNTIME`. Default model: `us.anthropic.claude-sonnet-5`. With AWS credentials, each request is
    signed (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html). API:
    https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html.

    Args:
        system_prompt: The system prompt. Default: none.
        region: The AWS region, for example `us-east-1`. Default: `AWS_REGION`.
        aws_profile: The name of the profile in AWS's configuration. Default: AWS's own order.
        cache: How long Claude and Nova keep the prompt: `"5m"`, `"1h"` or `"none"`, the default.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: The region or the credentials are missing, or an option is wrong.

    Examples:
        >>> chat_aws_bedrock(region="us-east-1", api_key="any-key").get_model()
        'us.anthropic.claude-sonnet-5'
    """
    if isinstance(options.get("profile"), str):
        raise UsageError(
            "profile= is for the model's capabilities. Use aws_profile= for a profile of AWS's own tools."
        )
    if options.get("base_url") or variable(AWSBedrock.base_url_var):
        region = region or variable("AWS_REGION") or variable("AWS_DEFAULT_REGION") or "us-east-1"
    else:
        region = setting("region", region, "AWS_REGION", "AWS_DEFAULT_REGION")
        options["base_url"] = f"https://bedrock-runtime.{region}.amazonaws.com"
    if options.get("api_key") is None and options.get("credentials") is None:
        options["credentials"] = aws_credentials(aws_profile)
    return construct(AWSBedrock, system_prompt, options, region=region, cache=cache)
