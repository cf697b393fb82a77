"""Anthropic Messages, `POST {base_url}/messages`. https://docs.claude.com/en/api/messages"""
