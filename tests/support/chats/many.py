"""A provider for many chats at once, and a chat with it."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ellmer_core.providers.openai_compatible import chat_openai_compatible


@contextmanager
def provider(answer):
    """Returns a server that answers each Chat Completions request with the message of `answer(messages)`, or with a
    status if that is a number, or with either of them and headers if that is a pair.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = answer(body["messages"])
            said, headers = said if isinstance(said, tuple) else (said, {})
            status = said if isinstance(said, int) else 200
            usage = {"prompt_tokens": 3, "completion_tokens": 2}
            whole = {"choices": [{"message": said, "finish_reason": "stop"}], "usage": usage}
            reply = json.dumps(whole if status == 200 else {"error": {"message": "no"}}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 100

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def chat_with(url, system_prompt=None, *, make=chat_openai_compatible, model="m", **options):
    options = {"max_tries": 1, "echo": "none", **options}
    return make(system_prompt, base_url=url, model=model, api_key="k", **options)
