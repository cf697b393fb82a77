"""Ollama's own chat, `POST {base_url}/api/chat`. https://docs.ollama.com/api/chat"""
