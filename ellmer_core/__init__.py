"""Chat with language models and let them call tools, from Python, on plain httpx."""
