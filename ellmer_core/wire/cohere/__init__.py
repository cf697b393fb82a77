"""Cohere Chat v2, `POST {base_url}/chat`. https://docs.cohere.com/v2/reference/chat"""
