"""OpenAI Chat Completions, `POST {base_url}/chat/completions`, with the extensions of other servers."""
