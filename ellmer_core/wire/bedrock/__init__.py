"""Amazon Bedrock Converse, `POST {base_url}/model/{model}/converse`."""

from .to_wire import Bedrock

__all__ = ["Bedrock"]
