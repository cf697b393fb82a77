"""One exchange with a chat API in the format of each recorder: valid, or with an unanswered call."""

import gzip
import json
from base64 import b64encode

import yaml
from vcr.cassette import Cassette
from vcr.request import Request
from vcr.serializers import jsonserializer, yamlserializer

from ellmer_conformance.contract.rules.openai_chat._refusals_and_examples import ASK, body, call, result

URL = "https://api.openai.com/v1/chat/completions"
GOOD = body(ASK, call("a"), result("a"))
BAD = body(ASK, call("a"), {"role": "user", "content": "Never mind."})
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "5"}}]}


def vcrpy(path, serializer, request, *, status=200):
    """Writes a cassette with vcrpy itself."""
    cassette = Cassette(str(path), serializer=serializer)
    answer = {
        "status": {"code": status, "message": "OK"},
        "headers": {"Content-Type": ["application/json"]},
        "body": {"string": json.dumps(ANSWER).encode()},
    }
    cassette.append(Request("POST", URL, json.dumps(request), {"content-type": "application/json"}), answer)
    cassette._save(force=True)
    return path


def vcr_yaml(folder, request):
    return vcrpy(folder / "a.yaml", yamlserializer, request)


def vcr_json(folder, request):
    return vcrpy(folder / "a.json", jsonserializer, request)


def zipped(folder, request):
    path = folder / "a.yaml.gz"
    path.write_bytes(gzip.compress(vcr_yaml(folder, request).read_bytes()))
    (folder / "a.yaml").unlink()
    return path


def pydantic_ai(folder, request):
    entry = {
        "request": {"method": "POST", "uri": URL, "headers": {"accept": ["*/*"]}, "parsed_body": request},
        "response": {"status": {"code": 200}, "headers": {}, "parsed_body": ANSWER},
    }
    path = folder / "a.yaml"
    path.write_text(yaml.safe_dump({"interactions": [entry], "version": 1}))
    return path


def ruby(folder, request):
    """Writes the format of VCR for Ruby, which VCR for R shares."""
    entry = {
        "request": {
            "method": "post",
            "uri": URL,
            "body": {"encoding": "UTF-8", "string": json.dumps(request)},
            "headers": {"Content-Type": ["application/json"]},
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {},
            "body": {"encoding": "UTF-8", "string": json.dumps(ANSWER)},
        },
        "recorded_at": "Mon, 08 Sep 2025 08:00:00 GMT",
    }
    path = folder / "a.yml"
    path.write_text(yaml.safe_dump({"http_interactions": [entry], "recorded_with": "VCR 6.3.1"}))
    return path


def go(folder, request):
    entry = {
        "id": 0,
        "request": {"method": "POST", "url": URL, "body": json.dumps(request), "headers": {}},
        "response": {"code": 200, "status": "200 OK", "body": json.dumps(ANSWER)},
    }
    path = folder / "a.yaml"
    path.write_text(yaml.safe_dump({"version": 2, "interactions": [entry]}))
    return path


def har(folder, request):
    encoded = b64encode(json.dumps(ANSWER).encode()).decode()
    entry = {
        "startedDateTime": "2025-09-08T08:00:00Z",
        "request": {
            "method": "POST",
            "url": URL,
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "postData": {"mimeType": "application/json", "text": json.dumps(request)},
        },
        "response": {"status": 200, "content": {"text": encoded, "encoding": "base64"}},
    }
    path = folder / "a.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    return path


def polly(folder, request):
    """Writes HAR of Polly.JS: the compressed bytes of the network, chunk by chunk."""
    path = har(folder, request)
    log = json.loads(path.read_text())
    answer = gzip.compress(json.dumps(ANSWER).encode())
    chunks = json.dumps([b64encode(each).decode() for each in (answer[:20], answer[20:])])
    log["log"]["entries"][0]["response"] = {
        "status": 200,
        "headers": [{"name": "content-encoding", "value": "gzip"}],
        "content": {"encoding": "base64", "mimeType": "application/json", "text": chunks},
    }
    path.write_text(json.dumps(log))
    return path


def nock(folder, request):
    entry = {"scope": "https://api.openai.com:443", "method": "POST", "path": "/v1/chat/completions"}
    answer = [gzip.compress(json.dumps(ANSWER).encode()).hex()]
    path = folder / "a.json"
    path.write_text(
        json.dumps(
            [
                {
                    **entry,
                    "body": request,
                    "status": 200,
                    "response": answer,
                    "rawHeaders": ["content-encoding", "gzip"],
                }
            ]
        )
    )
    return path


def records(folder, request):
    entry = {
        "request": {"method": "POST", "url": URL, "body": request},
        "response": {"status": 200, "body": ANSWER},
    }
    path = folder / "a.json"
    path.write_text(json.dumps({"family": "openai-chat", "interactions": [entry]}))
    return path


def one_record(folder, request):
    path = folder / "a.json"
    exchange = {"method": "POST", "url": URL, "body": {"json": request}}
    path.write_text(json.dumps({"request": exchange, "response": {"status": 200, "body": ANSWER}}))
    return path


def lines(folder, request):
    """Writes a log: a request, and a line that is not one."""
    path = folder / "a.jsonl"
    path.write_text(json.dumps({"url": URL, "body": request}) + '\n\n{"level": "info", "text": "started"}\n')
    return path


def httprr(folder, request):
    """Writes httprr's format: lengths, then both messages in HTTP/1.1."""
    sent, got = json.dumps(request).encode(), json.dumps(ANSWER).encode()
    asked = (
        f"POST {URL} HTTP/1.1\r\nHost: api.openai.com\r\nContent-Length: {len(sent)}\r\n\r\n".encode() + sent
    )
    chunk = f"{len(got):x}".encode() + b"\r\n" + got + b"\r\n0\r\n\r\n"
    told = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk
    path = folder / "a.httprr"
    path.write_bytes(b"httprr trace v1\n%d %d\n" % (len(asked), len(told)) + asked + told)
    return path


def httpmock(folder, request):
    """Writes httpmock's format, which has no host. The folder has the provider's name."""
    when = {"path": "/v1/chat/completions", "method": "POST", "query_param": [], "body": json.dumps(request)}
    then = {"status": 200, "header": [{"name": "x", "value": "y"}], "body": json.dumps(ANSWER)}
    (folder / "openai").mkdir(exist_ok=True)
    path = folder / "openai" / "a.yaml"
    path.write_text(yaml.safe_dump({"when": when, "then": then}))
    return path


def httpmock_text(folder, request):
    """Writes httpmock's format with the request as JSON in a text."""
    path = httpmock(folder, request)
    path.write_text(path.read_text().replace("  body: ", "  json_body_str: ", 1))
    return path


def wiremock(folder, request):
    stub = {
        "request": {
            "method": "POST",
            "urlPath": "/v1/chat/completions",
            "headers": {"Host": {"equalTo": "api.openai.com"}},
            "bodyPatterns": [{"equalToJson": json.dumps(request), "ignoreArrayOrder": True}],
        },
        "response": {"status": 200, "jsonBody": ANSWER},
    }
    path = folder / "a.json"
    path.write_text(json.dumps({"mappings": [stub]}))
    return path


def mockserver(folder, request):
    """Writes an expectation of MockServer, which has no host unless a header does."""
    sent = {"contentType": "application/json", "type": "JSON", "json": request, "rawBytes": "e30="}
    expectation = {
        "httpRequest": {
            "method": "POST",
            "path": "/v1/chat/completions",
            "headers": {"Host": ["api.openai.com"]},
            "body": sent,
        },
        "httpResponse": {
            "statusCode": 200,
            "headers": {"Content-Type": ["application/json"], "Date": ["Wed, 04 Feb 2026 10:07:56 GMT"]},
            "body": {"type": "STRING", "string": json.dumps(ANSWER)},
        },
    }
    path = folder / "a.json"
    path.write_text(json.dumps(expectation))
    return path


def mockservers(folder, request):
    """Writes a list of expectations, whose names are in lists of objects and whose bodies are plain, as MockServer takes them, too."""
    expectation = json.loads(mockserver(folder, request).read_text())
    expectation["httpRequest"]["headers"] = [{"name": "host", "values": ["api.openai.com"]}]
    expectation["httpRequest"] |= {"body": json.dumps(request), "path": {"value": "/v1/chat/completions"}}
    path = folder / "a.json"
    path.write_text(json.dumps([expectation]))
    return path


def braintrust(folder, request):
    entry = {
        "id": "1",
        "matchKey": "POST api.openai.com/v1/chat/completions",
        "recordedAt": "2025-09-08T08:00:00Z",
        "request": {"method": "POST", "url": URL, "headers": {}, "body": {"kind": "json", "value": request}},
        "response": {"status": 200, "headers": {}, "body": {"kind": "json", "value": ANSWER}},
    }
    path = folder / "a.cassette.json"
    path.write_text(json.dumps({"version": 1, "meta": {}, "entries": [entry]}))
    return path


def braintrust_without_version(folder, request):
    path = braintrust(folder, request)
    value = json.loads(path.read_text())
    path.write_text(json.dumps({"entries": value["entries"]}))
    return path


def httprr_of_http_2(folder, request):
    path = httprr(folder, request)
    path.write_bytes(path.read_bytes().replace(b"HTTP/1.1 200 OK", b"HTTP/2.0 200 OK"))
    return path


def azure_test_proxy(folder, request):
    """Writes the format of Azure's test proxy."""
    entry = {
        "RequestUri": URL,
        "RequestMethod": "POST",
        "RequestHeaders": {"Content-Type": "application/json"},
        "RequestBody": request,
        "StatusCode": 200,
        "ResponseHeaders": {"Content-Type": "application/json", "Date": "Mon, 08 Sep 2025 08:00:00 GMT"},
        "ResponseBody": ANSWER,
    }
    path = folder / "a.json"
    path.write_text(json.dumps({"Entries": [entry], "Variables": {}}))
    return path


def rec(folder, request):
    """Writes the format of DataDog's Java tests, which has no host."""
    parts = (
        "method: POST\npath: chat/completions",
        f"-- begin request body --\n{json.dumps(request)}\n-- end request body -- ",
        "status code: 200\n-- begin response headers --\nopenai-version: 2020-10-01\n-- end response headers --",
        f"-- begin response body --\n{json.dumps(ANSWER)}\n-- end response body --",
    )
    path = folder / "a.POST.rec"
    path.write_text("\n".join(parts))
    return path


def llama_stack(folder, request):
    answer = {"body": [{"__type__": "openai.types.chat.Chunk", "__data__": ANSWER}], "is_streaming": True}
    sent = {"method": "POST", "url": URL, "headers": {}, "body": request, "endpoint": "/v1/chat/completions"}
    path = folder / "a.json"
    path.write_text(json.dumps({"test_id": "test_a.py::test_b", "request": sent, "response": answer}))
    return path


def pair(folder, request):
    """Writes a request and its answer to two files."""
    (folder / "a.response.json").write_text(json.dumps({"object": "chat.completion", **ANSWER}))
    path = folder / "a.request.json"
    path.write_text(json.dumps({**request, "model": "gpt-4.1"}))
    return path


def redacted(folder, request):
    """Writes a cassette without addresses, as langchain's tests do."""
    path = vcr_yaml(folder, {**request, "model": "gpt-4.1"})
    path.write_text(path.read_text().replace(URL, "'**REDACTED**'"))
    return path


def istr(folder, request):
    """Writes the format of vcrpy with aiohttp: the keys of headers are Python objects."""
    path = vcr_yaml(folder, request)
    key = "? !!python/object/new:multidict._multidict.istr\n      - Content-Type\n      : "
    path.write_text(path.read_text().replace("content-type:", key, 1))
    assert "istr" in path.read_text()
    return path


WRITERS = [
    *(vcr_yaml, vcr_json, zipped, pydantic_ai, ruby, go, har, polly, nock, records, one_record, lines),
    *(httprr, httpmock, httpmock_text, wiremock, mockserver, mockservers, braintrust, istr),
    *(braintrust_without_version, httprr_of_http_2, azure_test_proxy, rec, llama_stack, pair, redacted),
]
