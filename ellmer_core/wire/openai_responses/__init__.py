"""OpenAI Responses, `POST {base_url}/responses`, stateless.

https://developers.openai.com/api/reference/resources/responses
"""
