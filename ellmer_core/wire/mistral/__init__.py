"""Mistral chat, `POST {base_url}/chat/completions`. https://docs.mistral.ai/api/endpoint/chat"""
