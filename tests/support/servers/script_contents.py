"""What a script may contain besides texts and calls, one entry of each."""

import base64

PAGE = {"url": "https://example.com/paris", "title": "Paris", "quote": "Paris is large", "cited": "Paris"}
DATA = base64.b64encode(b"RIFF").decode()
ENTRIES = {
    "citations": {"text": "Paris is big.", "citations": [PAGE]},
    "search": {
        "searches": [{"query": "size of Paris", "found": [{"url": PAGE["url"]}]}],
        "text": "It is big.",
    },
    "code": {"code": [{"code": "print(6*7)", "output": "42"}], "text": "It is 42."},
    "image": {"media": [{"data": DATA, "words": "a cat"}]},
    "audio": {"media": [{"data": DATA, "type": "audio/wav", "words": "Meow meow."}]},
    "refusal": {"refusal": "I cannot help."},
    "choices": {"text": "Lisbon", "choices": [{"text": "Madrid"}, {"text": "Porto", "finish": "length"}]},
}
