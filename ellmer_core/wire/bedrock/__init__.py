"""Amazon Bedrock Converse, `POST {base_url}/model/{model}/converse`."""

from .request import Bedrock

__all__ = ["Bedrock"]
