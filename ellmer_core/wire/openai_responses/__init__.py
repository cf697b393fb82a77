"""OpenAI Responses, `POST {base_url}/responses`, stateless. https://platform.openai.com/docs/api-reference/responses"""

from .request import OpenAIResponses

__all__ = ["OpenAIResponses"]
