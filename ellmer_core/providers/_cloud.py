"""Credentials that clouds keep in several places: profiles, single sign-on, metadata servers.

The clouds' own libraries find them: botocore and google-auth, if they are installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..errors import UsageError
from ..transport.aws_signature import AwsKeys

_GOOGLE = "https://www.googleapis.com/auth/cloud-platform"


def aws_credentials(profile: str | None = None) -> Callable[[], str | AwsKeys]:
    """Returns a function that returns a Bedrock API key or the keys for signatures: from variables, or else as the
    AWS command line finds them.
    """
    if profile is None and (os.environ.keys() & {"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"}):
        return _aws_variables
    found = _library("botocore.session").Session(profile=profile).get_credentials()
    if found is None:
        raise UsageError(
            "There are no credentials for AWS: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            "or log in with the AWS command line."
        )

    def keys() -> AwsKeys:
        now = found.get_frozen_credentials()  # refreshed, if they are about to expire
        return AwsKeys(now.access_key, now.secret_key, now.token)

    return keys


def google_credentials() -> Callable[[], str]:
    """Returns a function that returns an access token for Google Cloud, from the application default credentials."""
    auth, transport = _library("google.auth"), _library("google.auth.transport.requests")
    try:
        found, _ = auth.default(scopes=[_GOOGLE])
    except auth.exceptions.DefaultCredentialsError as error:
        raise UsageError(
            f"There are no credentials for Google Cloud: {error} Log in with `gcloud auth application-default login`, or give api_key= or credentials=."
        ) from error

    def token() -> str:
        if not found.valid:
            found.refresh(transport.Request())
        return str(found.token)

    return token


def _aws_variables() -> str | AwsKeys:
    if bearer := os.environ.get("AWS_BEARER_TOKEN_BEDROCK"):
        return bearer
    try:
        access, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
        return AwsKeys(access, secret, os.environ.get("AWS_SESSION_TOKEN"))
    except KeyError as error:
        raise UsageError(f"AWS_ACCESS_KEY_ID is set, but {error} is not: set both or neither.") from None


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = {"botocore": "botocore", "google": "google-auth requests"}[name.partition(".")[0]]
        raise UsageError(
            f"Finding credentials needs `pip install {package}`; or give api_key= or credentials=."
        ) from error
