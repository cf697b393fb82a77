"""OpenAI Responses, `POST {base_url}/responses`, stateless.

https://developers.openai.com/api/reference/resources/responses
"""

from .to_wire import OpenAIResponses

__all__ = ["OpenAIResponses"]
