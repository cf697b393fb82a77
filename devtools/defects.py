"""Known defects that break an invariant, each as a change of one source: `nox -s invariants -- --defects` puts each one back, and
its test must fail.

As a plugin of pytest (`-p devtools.defects`), it puts back the defect that the environment variable DEFECT names. The source on
the disk is not changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

__all__ = ["DEFECTS", "Defect"]


@dataclass(frozen=True)
class Defect:
    """A defect: what it does, the invariant that it breaks, a module, its change, and tests that must notice it."""

    does: str
    invariant: int
    module: str
    now: str
    defect: str
    tests: tuple[str, ...]


DEFECTS = {
    "after-the-end": Defect(
        "All events of a chunk count, those after the end marker, too.",
        1,
        "ellmer_core.conversation.response",
        '                if ended := event == "[DONE]" or merger.done:\n                    break\n',
        '                ended = ended or event == "[DONE]" or merger.done\n',
        ("tests/hostile/test_cut_bytes.py", "-k", "anthropic and after"),
    ),
    "whole-answer-for-each-id": Defect(
        "The whole answer is written for each call without an id.",
        2,
        "ellmer_core.wire.shared.tool_calls",
        "            own = digest.copy()  # the answer may be long\n",
        '            own = sha256(f"[{json_text(seed)},".encode("utf-8", "surrogatepass"))\n',
        ("tests/wire/answers/test_linear_streams.py", "-k", "ollama or gemini"),
    ),
    "arguments-parsed-for-each-delta": Defect(
        "All arguments of a call are parsed again for each delta.",
        2,
        "ellmer_core.wire.openai_chat.from_wire",
        "or self._whole.reached()\n",
        "or tool_calls.WholeObject(self.arguments).reached()\n",
        ("tests/wire/answers/test_linear_streams.py", "-k", "openai-chat"),
    ),
    "all-parts-searched": Defect(
        "All parts of an answer are searched for each piece.",
        2,
        "ellmer_core.wire.cohere.from_wire",
        "        part = self._open.get(index)\n",
        "        part = {number: part for number, part in self._parts}.get(index)\n",
        ("tests/wire/answers/test_linear_streams.py", "-k", "cohere"),
    ),
    "choices-looked-at-again": Defect(
        "Whether each choice of an answer is complete is looked at after each event.",
        2,
        "ellmer_core.wire.openai_chat.from_wire",
        "        return self._done or (bool(self._choices) and not self._unfinished)\n",
        "        return self._done or all(each.fields.get('finish_reason') for each in self._choices.values())\n",
        ("tests/wire/answers/test_linear_streams.py", "-k", "mistral and choices"),
    ),
    "other-origins": Defect(
        "A page of another origin opens the WebSocket of a chat app in a program's own server.",
        5,
        "ellmer_core.live.browser",
        '        if not _from_own_page(scope["headers"]):\n',
        "        if False:\n",
        ("tests/hostile/test_pages_from_elsewhere.py", "-k", "another_origin"),
    ),
    "sessions-of-others": Defect(
        "A user reaches the session of another one.",
        5,
        "ellmer_core.live.browser",
        "            if self.owners.get(",
        "            if False and self.owners.get(",
        ("tests/hostile/test_pages_from_elsewhere.py", "-k", "somebody_else"),
    ),
    "rebound-names": Defect(
        "A web page reads a cassette through a name of its own for this machine.",
        5,
        "ellmer_harness.serving",
        "if not self.server.is_called(",
        "if False and not self.server.is_called(",
        ("tests/hostile/test_pages_from_elsewhere.py", "-k", "cassette"),
    ),
    "parent's-connections": Defect(
        "A fork uses the connections of its parent.",
        3,
        "ellmer_core.transport.http_clients",
        "        process = os.getpid()\n",
        "        process = 0\n",
        ("tests/hostile/test_forks_and_threads.py", "-k", "at_once"),
    ),
    "contradictions": Defect(
        "Recordings that contradict each other are not named.",
        5,
        "ellmer_conformance.recordings.calibrate",
        "self._on_disk.is_new(request + own) and ",
        "False and ",
        ("conformance/tests/recordings/test_lying_recordings.py",),
    ),
    "key-in-the-report-of-a-proxy": Defect(
        "The report of the proxy has the key that an upstream quotes.",
        6,
        "ellmer_harness.secrets.quoted_keys",
        '        data = data.replace(form, b"[key]")\n',
        "        pass\n",
        ("conformance/tests/server/test_proxy.py", "-k", "upstream_quotes"),
    ),
    "received-bytes-kept": Defect(
        "The heap of the server grows with each request.",
        3,
        "ellmer_conformance.server.http.connection",
        "self._reader.feed(bytes(memoryview(data)))",
        "self._reader.feed(data)",
        ("tests/hostile/test_not_from_here.py", "-k", "copied"),
    ),
    "each-text-of-an-error": Defect(
        "Each of many equal texts of an error is searched for keys.",
        3,
        "ellmer_core.transport.sent_keys",
        "cache(self.hidden_in_error))",
        "self.hidden_in_error)",
        ("tests/transport/test_sent_keys.py", "-k", "short_texts"),
    ),
    "error-behind-status-200": Defect(
        "An error within an answer quotes a part of the key.",
        6,
        "ellmer_core.conversation.response",
        "        answer.without_keys(error)\n",
        "        pass\n",
        ("tests/hostile/test_quoted_keys.py", "-k", "searched_as_one"),
    ),
    "log-of-the-client": Defect(
        "The log of the HTTP client quotes the key.",
        6,
        "ellmer_core.transport.sent_keys",
        "    if shown != text:\n        record.msg",
        "    if False:\n        record.msg",
        ("tests/hostile/test_quoted_keys.py", "-k", "the_log"),
    ),
    "error-of-any-size": Defect(
        "All of an error within an answer is searched for keys, and kept.",
        3,
        "ellmer_core.transport.sent_keys",
        "        event = _shortened(event)\n",
        "",
        ("tests/hostile/test_quoted_keys.py", "-k", "as_short"),
    ),
    "number-in-a-path": Defect(
        "A key in UTF-16 in a path is not found.",
        6,
        "ellmer_core.transport.keys_in_errors",
        "pieces = _PIECES.findall(",
        "pieces = re.findall(r'$^', ",
        ("tests/hostile/test_quoted_keys.py", "-k", "searched_as_one"),
    ),
    "many-values-judged": Defect(
        "The server judges any number of values of a request.",
        3,
        "ellmer_conformance.contract.readers",
        "    if has_more_values(body, most):\n",
        "    if False:\n",
        ("conformance/tests/server/http/test_hostile_requests.py", "-k", "many_values and objects and chat"),
    ),
    "brackets-counted-again": Defect(
        "The brackets of a call's arguments are counted from the start at each event.",
        2,
        "ellmer_core.wire.shared.tool_calls",
        "        for piece in self._pieces[self._read :]:\n",
        "        self._depth, self._in_string, self._escape = 0, False, ''\n        for piece in self._pieces:\n",
        ("tests/wire/answers/test_linear_streams.py", "-k", "openai-chat"),
    ),
    "chunk-unpacked-whole": Defect(
        "A chunk is unpacked as a whole, and all its events are held.",
        3,
        "ellmer_core.transport.http_exchange",
        "min(most or PIECE, PIECE))\n",
        "most or 10**9)\n",
        ("tests/hostile/test_long_chunks.py",),
    ),
    "after-the-compressed-data": Defect(
        "Bytes after the end of gzip are kept, and copied with each chunk.",
        3,
        "ellmer_core.transport.http_exchange",
        "        if self._engine.eof:  # what follows counts, and is dropped\n",
        "        if False:\n",
        ("tests/hostile/test_compressed_answers.py", "-k", "linear_time"),
    ),
    "endless-gzip": Defect(
        "Compressed bytes that become none are read without an end.",
        3,
        "ellmer_core.transport.http_exchange",
        "        self._left, self.oversized = left, left < 0\n",
        "        self._left, self.oversized = left, False\n",
        ("tests/hostile/test_compressed_answers.py", "-k", "become_none"),
    ),
    "fences-and-lines": Defect(
        "A Markdown fence with many empty lines takes cubic time.",
        2,
        "ellmer_core._chat.structured_output",
        r'''r"```[ \t]*+\w*+[ \t\r]*+\n(.*?)```"''',
        r'''r"```[ \t]*\w*\s*\n(.*?)\n?\s*```"''',
        ("tests/hostile/test_linear_patterns.py", "-k", "ellmer_core"),
    ),
    "masks-and-words": Defect(
        "A mask after a long word of an error takes quadratic time.",
        2,
        "ellmer_core.transport.keys_in_errors",
        r"""rf"(?<![\w\-/+=~.]){_RUN}(?>""",
        r"""rf"{_RUN}(?>""",
        ("tests/transport/test_sent_keys.py", "-k", "linear_time"),
    ),
    "many-small-values": Defect(
        "A value of three bytes needs seventy in memory, and there may be any number.",
        3,
        "ellmer_core.wire.shared.json_objects",
        "        few(text)\n    try:\n",
        "        pass\n    try:\n",
        ("tests/hostile/test_compressed_answers.py", "-k", "need_no_memory"),
    ),
    "proxy-unpacks-bombs": Defect(
        "The proxy unpacks any body for its report.",
        3,
        "ellmer_conformance.server.proxy",
        "decompress(body, SERVER.unpacked)",
        "decompress(body)",
        ("conformance/tests/server/test_proxy.py", "-k", "bomb"),
    ),
    "proxy-reads-after-the-end": Defect(
        "The proxy copies all bytes after the end of gzip with each piece of them.",
        3,
        "ellmer_conformance.server.proxy",
        '_INFLATED = {"gzip": (31,), "deflate": (15, -15)}',
        "_INFLATED: dict[str, tuple[int, ...]] = {}",
        ("conformance/tests/server/test_proxy.py", "-k", "after_the_end"),
    ),
    "members-copied": Defect(
        "All that follows a member of gzip is copied for each member.",
        3,
        "ellmer_harness.recordings.untrusted_files",
        "    return plain.getvalue()\n",
        "    return gzip.decompress(data)\n",
        ("conformance/tests/recordings/test_hostile_files.py", "-k", "members"),
    ),
    "values-of-a-recording": Defect(
        "A recording may have any number of values.",
        3,
        "ellmer_harness.recordings.untrusted_files",
        "    if has_more_values(text, RECORDING.values):\n",
        "    if False:\n",
        ("conformance/tests/recordings/test_hostile_files.py", "-k", "small_values"),
    ),
    "values-of-a-body": Defect(
        "A recorded body may have any number of values.",
        3,
        "ellmer_conformance.contract.readers",
        "    if has_more_values(body, most):\n",
        "    if False:\n",
        ("conformance/tests/recordings/test_hostile_files.py", "-k", "small_values and body"),
    ),
    "values-of-yaml": Defect(
        "A file of YAML may have any number of values.",
        3,
        "ellmer_harness.recordings.untrusted_files",
        "        if values > YAML.values:\n",
        "        if False:\n",
        ("conformance/tests/recordings/test_hostile_files.py", "-k", "small_values and yaml"),
    ),
    "violations-without-end": Defect(
        "Each of any number of violations of one request is noted.",
        3,
        "ellmer_conformance.contract.rule",
        "            if len(violations) >= VIOLATIONS.events:\n",
        "            if False:\n",
        ("conformance/tests/recordings/test_hostile_files.py", "-k", "noted_of_a_request"),
    ),
    "recordings-unpacked-without-end": Defect(
        "A body of a recording is unpacked without a bound.",
        3,
        "ellmer_harness.format.compression",
        "    if len(plain) > RECORDING.unpacked:\n",
        "    if False:\n",
        ("harness/tests/format/test_untrusted_cassettes.py", "-k", "bounded"),
    ),
    "batch-forgotten": Defect(
        "Any error proves that no batch was submitted.",
        4,
        "ellmer_core.jobs.batch",
        "            return 300 <= status < 500 and status != 408\n",
        "            return True\n",
        ("tests/jobs/test_batch.py", "-k", "gateway"),
    ),
    "batch-not-tagged": Defect(
        "A batch is not looked for after its submission was interrupted.",
        4,
        "ellmer_core.jobs.batch",
        "            if batch is not None:\n",
        "            if False:\n",
        ("tests/jobs/test_killed.py", "-k", "handed_in_once and gemini and text"),
    ),
    "folder-of-another-user": Defect(
        "Locks and notes of cassettes are in a folder that another user made.",
        5,
        "ellmer_harness.store.concurrent_cassette_merging",
        "    return S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o022\n",
        "    return S_ISDIR(about.st_mode)\n",
        ("harness/tests/store/test_merged_cassettes.py", "-k", "not_used"),
    ),
    "question-shown-in-part": Defect(
        "Who allows a question of an MCP server to the model sees only its last message.",
        5,
        "ellmer_core.mcp.questions",
        '    if len(said) == 1 and not system_prompt:\n        return f"{words} {said[0][1]}"\n',
        '    if said:\n        return f"{words} {said[-1][1]:.500}"\n',
        ("tests/hostile/test_shown_from_outside.py", "-k", "sees_all"),
    ),
    "notebooks-load": Defect(
        "The Markdown of an answer in a notebook loads an image from any address.",
        5,
        "ellmer_core.render.markdown",
        '    return loading_nothing(contents_markdown(value) or "")\n',
        '    return contents_markdown(value) or ""\n',
        ("tests/hostile/test_shown_from_outside.py", "-k", "loads_nothing_that"),
    ),
    "variables-of-an-answer": Defect(
        "The variables of the functions that read an answer stay in the traceback.",
        6,
        "ellmer_core.conversation.response",
        "        _forget_answer(error)\n",
        "",
        ("tests/hostile/test_keys_elsewhere.py", "-k", "marks_between"),
    ),
    "journal-read-whole": Defect(
        "All lines of a journal are in the memory at once.",
        3,
        "ellmer_core.jobs.job_files",
        "        for line in file:\n",
        "        for line in file.readlines():\n",
        ("tests/jobs/test_parallel_journal.py", "-k", "memory"),
    ),
    "calls-compared-for-each-result": Defect(
        "All calls and all results are compared for each result.",
        2,
        "ellmer_conformance.contract.rules.common",
        "            places, number = calls[item.id], answered[item.id]\n",
        "            [each for each in calls if each in answered]\n            places, number = calls[item.id], answered[item.id]\n",
        ("conformance/tests/contract/rules/test_linear_rules.py", "-k", "at_once and openai-chat"),
    ),
    "blobs-anywhere": Defect(
        "A cassette may name any file as the place of a body.",
        5,
        "ellmer_harness.format.blobs",
        "        if not _NAME.fullmatch(name):\n",
        "        if False:\n",
        ("harness/tests/format/test_untrusted_cassettes.py", "-k", "hash"),
    ),
    "restored-html": Defect(
        "The HTML of a stranger's saved chat is shown.",
        5,
        "ellmer_core.contents.json_serialization",
        "and not self.trust_html:\n",
        "and False:\n",
        ("tests/hostile/test_shown_from_outside.py", "-k", "restored"),
    ),
    "names-obeyed": Defect(
        "A line of output that a file's name begins is a command of GitHub.",
        5,
        "ellmer_harness.cli._terminal",
        '    return harmless(str(name).replace("\\r", "\\\\r").replace("\\n", "\\\\n"))\n',
        "    return str(name)\n",
        ("tests/hostile/test_shown_from_outside.py", "-k", "name_of_a_file"),
    ),
    "invisible-letters": Defect(
        "Letters that turn the direction of writing are shown to a person who approves a call.",
        5,
        "ellmer_core.base.printable_text",
        "_escape(c) if c not in visible and _hides(c) else c",
        "c",
        ("tests/hostile/test_shown_from_outside.py", "-k", "approves"),
    ),
    "scan-stops": Defect(
        "One damaged gzip file stops the scan.",
        5,
        "ellmer_harness.cli.scan",
        "    except (EOFError, zlib.error) as error:\n",
        "    except EOFError as error:\n",
        ("tests/hostile/test_shown_from_outside.py", "-k", "damaged_gzip"),
    ),
    "quoted-key": Defect(
        "An error has the key that the provider quotes.",
        6,
        "ellmer_core.transport.sent_keys",
        "        shown = self.hidden_in_error(text) if failed else self._hidden(text)\n",
        "        shown = text if failed else self._hidden(text)\n",
        ("tests/transport/test_sent_keys.py", "-k", "no_error_has_the_key"),
    ),
    "key-in-escaped-letters": Defect(
        "A key whose letters are escaped one by one is shown.",
        6,
        "ellmer_core.transport.keys_in_errors",
        "        following = _ESCAPED.sub(lambda found: _letter(found[0]), texts[-1])\n",
        "        following = texts[-1]\n",
        ("tests/transport/test_sent_keys.py", "-k", "however_each_is_escaped or no_error_has_the_key"),
    ),
    "key-in-lines-of-base64": Defect(
        "A key in Base64 or Base32 is shown if it is cut off, over several lines, or encoded twice.",
        6,
        "ellmer_core.transport.keys_in_errors",
        "searches or (_spans, _in_packed, _in_escaped_runs, _in_numbers)",
        "searches or (_spans, _in_escaped_runs, _in_numbers)",
        ("tests/transport/test_sent_keys.py", "-k", "no_error_has_the_key"),
    ),
    "key-with-marks-between": Defect(
        "A key is shown if something is between its letters, or between those of its hexadecimal form.",
        6,
        "ellmer_core.transport.keys_in_errors",
        "    letters = _letters(text)\n",
        "    letters = text\n",
        ("tests/transport/test_sent_keys.py", "-k", "no_error_has_the_key"),
    ),
    "pieces-beside-a-mask": Defect(
        "A piece of a key beside a mask is shown.",
        6,
        "ellmer_core.transport.keys_in_errors",
        "in (_MASKED, _tells_masked), *(",
        "in (",
        ("tests/transport/test_sent_keys.py", "-k", "no_error_has_the_key"),
    ),
    "key-in-two-deltas": Defect(
        "A key in two pieces of a stream is shown.",
        6,
        "ellmer_core.transport.sent_keys",
        "            begun = self._looked_at(chunk)\n",
        "            begun = self._looked_at(chunk) and False\n",
        ("tests/transport/test_sent_keys.py", "-k", "deltas"),
    ),
    "key-in-deltas-of-one-letter": Defect(
        "A key in pieces of fewer than four letters is shown.",
        6,
        "ellmer_core.transport.sent_keys",
        "        if start < len(whole):\n",
        "        if len(whole) - start >= BEGINNING:\n",
        ("tests/transport/test_sent_keys.py", "-k", "any_deltas"),
    ),
    "two-calls-with-one-file": Defect(
        "Two processes use the file of one job, and both pay.",
        4,
        "ellmer_core.jobs.job_files",
        "            except BlockingIOError:\n                return False\n",
        "            except BlockingIOError:\n                return True\n",
        ("tests/jobs/test_job_files.py", "-k", "another_call_holds"),
    ),
    "half-a-line-in-the-answers": Defect(
        "What a full disk took of an answer stays, and the next answer follows it.",
        4,
        "ellmer_core.jobs.job_files",
        "                file.truncate(end)\n",
        "",
        ("tests/jobs/test_parallel_journal.py", "-k", "disk_cuts"),
    ),
    "depth-of-what-a-browser-sends": Defect(
        "What a browser sends is read as deep as Python's stack allows.",
        3,
        "ellmer_core.web.exchange",
        "read_json(request)",
        "json.loads(request)",
        ("tests/web/test_read.py", "-k", "nests_deeper"),
    ),
    "name-of-a-recording": Defect(
        "The name of a recording is printed as it is.",
        5,
        "ellmer_conformance.recordings.lint",
        "path=one_line(report.path)",
        "path=report.path",
        ("conformance/tests/recordings/test_lint_in_pull_requests.py", "-k", "only_a_name"),
    ),
    "headers-joined-again": Defect(
        "All values of a header are joined again for each of them.",
        2,
        "ellmer_harness.recordings.interaction",
        "        found.setdefault(name, []).append(value)\n",
        '        found[name] = [", ".join([*found.get(name, []), value])]\n',
        ("harness/tests/recordings/test_linear_readers.py", "-k", "headers"),
    ),
    "bodies-named-often": Defect(
        "A recording may name the same large file as each of its bodies.",
        3,
        "ellmer_harness.format.blobs",
        "        if left[0] < 0:\n",
        "        if False:\n",
        ("conformance/tests/recordings/test_hostile_files.py", "-k", "name_the_same"),
    ),
    "messages-of-mcp-servers": Defect(
        "A message of an MCP server may have any size.",
        3,
        "ellmer_core.mcp.client",
        'program.encoding == "utf-8"',
        "False",
        ("tests/hostile/test_hostile_mcp.py", "-k", "too_large"),
    ),
    "key-hidden-by-its-chunk": Defect(
        "Whether a part of a key is replaced depends on what else is in its chunk.",
        1,
        "ellmer_core.transport.sent_keys",
        '        if not self._forms.in_answer(text.encode("utf-8", "replace")):\n',
        "        if False:\n",
        ("tests/hostile/test_every_split.py", "-k", "deltas_and_bytes"),
    ),
    "yaml-that-contains-itself": Defect(
        "A list of YAML that contains itself is searched for two minutes.",
        3,
        "ellmer_harness.recordings.untrusted_files",
        "                if any(anchor == event.anchor for anchor, _ in open_):\n",
        "                if False:\n",
        ("harness/tests/format/test_untrusted_cassettes.py", "-k", "contains_itself"),
    ),
    "head-without-an-end": Defect(
        "A blocking chat reads a head without an end, or interim answers, for ever.",
        3,
        "ellmer_core.transport.http_clients",
        "    if monitor is not None and monitor.ends is not None:\n",
        "    if False:\n",
        ("tests/hostile/test_hostile_heads.py", "-k", "byte and head and blocking"),
    ),
    "key-in-what-cannot-be-read": Defect(
        "An error has the key that is in a head, or in half of an event.",
        6,
        "ellmer_core.transport.sent_keys",
        "        error.args = tuple(map(self._hidden_in_value, error.args))\n",
        "",
        ("tests/hostile/test_hostile_heads.py", "-k", "cannot_be_read"),
    ),
    "key-in-the-encoding": Defect(
        "The headers of an answer without an error have the key.",
        6,
        "ellmer_core.transport.sent_keys",
        "        if not failed and not self._forms.in_answer(together.encode()):\n",
        "        if not failed:\n",
        ("tests/transport/test_sent_keys.py", "-k", "header"),
    ),
    "values-that-need-nothing": Defect(
        "The server keeps 256 MB of requests, whose values need 6 GB.",
        3,
        "ellmer_core.base.budget",
        "    return len(text) + _VALUE * _separators(text)\n",
        "    return len(text)\n",
        ("tests/hostile/test_not_from_here.py", "-k", "underestimated"),
    ),
    "stored-without-an-end": Defect(
        "Clients store any number of files on the server.",
        3,
        "ellmer_conformance.server.services",
        "        while self._taken > STORED.unpacked:\n",
        "        while False:\n",
        ("tests/hostile/test_not_from_here.py", "-k", "clients_store"),
    ),
    "report-that-forgets-nothing": Defect(
        "The server keeps each request.",
        3,
        "ellmer_conformance.server.journal",
        "        of_case.popleft()\n        if not of_case:\n",
        "        if False:\n",
        ("tests/hostile/test_not_from_here.py", "-k", "memory"),
    ),
    "notebook-without-policy": Defect(
        "Output in a notebook has no content security policy, and runs scripts.",
        5,
        "ellmer_core.render.html",
        "    return FRAME.format(fits=escape(FITS), page=escape(page), text=escape(text))\n",
        "    return html\n",
        ("tests/hostile/test_shown_from_outside.py", "-k", "every_page"),
    ),
    "secret-that-signs": Defect(
        "An error quotes the secret key that signed the request.",
        6,
        "ellmer_core.providers.aws_bedrock",
        "secrets=(keys.secret_key,)",
        "secrets=()",
        ("tests/hostile/test_canary.py", "-k", "bedrock"),
    ),
    "vectors-without-an-end": Defect(
        "A short request gets a vector for each of its 90,000 texts.",
        3,
        "ellmer_conformance.server.services.service_request",
        "    if len(items) > most:\n",
        "    if False:\n",
        ("conformance/tests/server/http/test_hostile_requests.py", "-k", "many_texts and moderations"),
    ),
    "long-requests-on-the-loop": Defect(
        "All clients wait while a long request is judged.",
        3,
        "ellmer_conformance.server.engine",
        "        if not (is_long(request) or _reads_journal(request)):\n",
        "        if True:\n",
        ("conformance/tests/server/http/test_hostile_requests.py", "-k", "other_clients"),
    ),
    "credentials-in-arguments": Defect(
        "A credential inside of an argument of a server is recorded.",
        6,
        "ellmer_harness.interception.clients.mcp_servers",
        "return _NAMED.sub(_masked, _OPTION.sub(_masked, text))",
        "return text",
        ("harness/tests/interception/test_mcp_servers.py", "-k", "wherever_it_stands"),
    ),
    "variables-stay-in-tracebacks": Defect(
        "The variables of frames that have ended stay in a traceback.",
        6,
        "ellmer_core.errors",
        "                    frame.clear()\n",
        "                    frame.f_lineno\n",
        ("tests/hostile/test_keys_elsewhere.py", "-k", "frame"),
    ),
    "wrong-values-are-quoted": Defect(
        "An error quotes a wrong value of a parameter that has a key.",
        6,
        "ellmer_core.base.argument_checks",
        "    if may_have_a_key and not (",
        "    if not parameter and not (",
        ("tests/hostile/test_keys_elsewhere.py", "-k", "headers or token"),
    ),
    "mcp-servers-quote-their-keys": Defect(
        "What an MCP server says is passed on with its keys.",
        6,
        "ellmer_core.mcp.client",
        "        shown = self._keys.hidden_in_value(told, failed=failed)\n",
        "        shown = told\n",
        ("tests/hostile/test_keys_elsewhere.py", "-k", "quotes_its_key"),
    ),
    "keys-of-the-own-client": Defect(
        "Keys that the program's own client adds are not known.",
        6,
        "ellmer_core.transport.http_exchange",
        "        if self.connection.client is not None:  # it may have added keys of its own\n",
        "        if self.connection.client is self:\n",
        ("tests/hostile/test_keys_elsewhere.py", "-k", "own_client"),
    ),
    "words-from-each-letter": Defect(
        "Eight words are looked for from each letter of a value.",
        2,
        "ellmer_harness.secrets.random_values",
        r"|(?<!\S)(?:\S+\s+){8}",
        r"|(?:\S+\s+){8}",
        ("tests/hostile/test_linear_patterns.py", "-k", "back_and_forth and harness"),
    ),
    "backslashes-from-each-one": Defect(
        "A quotation mark is looked for behind each of many backslashes.",
        2,
        "ellmer_conformance.contract.error_texts.sentences",
        r"(?<!\\)\\+(?=['\"])",
        r"\\+(?=['\"])",
        ("tests/hostile/test_linear_patterns.py", "-k", "back_and_forth and conformance"),
    ),
    "tokens-from-each-beginning": Defect(
        "A JSON web token is looked for at each of many beginnings.",
        2,
        "ellmer_harness.secrets.service_keys",
        "if once else 0",
        "if False else 0",
        ("harness/tests/secrets/test_secret_kinds.py", "-k", "beginnings"),
    ),
    "a-fix-for-each-kind": Defect(
        "A fix is looked for each kind of violation, and the request is judged again for each.",
        2,
        "ellmer_conformance.recordings.lint",
        " or len(report.kinds) >= _TRIED",
        "",
        ("conformance/tests/recordings/test_hostile_files.py", "-k", "a_fix"),
    ),
    "bombs-in-a-document": Defect(
        "All streams of a PDF are decompressed.",
        3,
        "ellmer_conformance.server.model.media_description",
        "        if left < 0 or len(words) > _MOST_WORDS:\n",
        "        if False:\n",
        ("conformance/tests/server/model/test_descriptions_of_media.py", "-k", "bombs"),
    ),
    "large-media-kept": Defect(
        "The server keeps the last 64 images, however large they are.",
        3,
        "ellmer_conformance.server.model.media_description",
        "cached(data) if len(data) <= _KEPT else read(data)",
        "cached(data)",
        ("conformance/tests/server/model/test_descriptions_of_media.py", "-k", "large_media"),
    ),
    "questions-without-an-end": Defect(
        "An MCP server asks the model as often as it likes during a call.",
        3,
        "ellmer_core.mcp.questions",
        "        if self._questions > MCP_CALL.events:\n",
        "        if False:\n",
        ("tests/hostile/test_hostile_mcp.py", "-k", "asks_without_an_end and samples_at_once"),
    ),
    "connection-that-broke": Defect(
        "The end of a connection to an MCP server that broke before is an error of the program.",
        3,
        "ellmer_core.mcp.client",
        "        except Exception as error:  # noqa: BLE001 - of any transport\n",
        "        except ZeroDivisionError as error:\n",
        ("tests/hostile/test_hostile_mcp.py", "-k", "fails_alone"),
    ),
    "batch-on-a-full-disk": Defect(
        "A batch that was submitted is lost if its file cannot be written.",
        4,
        "ellmer_core.jobs.batch",
        "            self.unwritten = error\n",
        "            raise\n",
        ("tests/jobs/test_batch.py", "-k", "goes_on_where"),
    ),
    "hidden-in-forms": Defect(
        "Text that is hidden in the letters that choose the form of others is not shown to who approves.",
        5,
        "ellmer_core.base.printable_text",
        ", range(0xFE00, 0xFE10)",
        "",
        ("tests/hostile/test_shown_from_outside.py", "-k", "shows_nothing"),
    ),
    "key-from-behind": Defect(
        "A key in Base64 is not found from behind.",
        6,
        "ellmer_core.transport.keys_in_errors",
        "    text = from_behind[::-1].replace(HIDDEN[::-1], HIDDEN)\n",
        "",
        ("tests/transport/test_sent_keys.py", "-k", "no_error_has_the_key and behind"),
    ),
    "half-a-new-file": Defect(
        "A chat that is exported to a full disk leaves half a file.",
        4,
        "ellmer_core.render.html",
        "        if not known:\n            path.unlink()\n        raise\n",
        "        raise\n",
        ("tests/render/test_render.py", "-k", "no_room"),
    ),
    "rows-with-other-words": Defect(
        "Base32 in groups is not read if a sentence has a word of the same length.",
        6,
        "ellmer_core.transport.keys_in_errors",
        "[span for span in row if code.runs.fullmatch(text, *span)]",
        "row if code.runs.fullmatch(''.join([text[slice(*span)] for span in row])) else []",
        ("tests/transport/test_sent_keys.py", "-k", "sentence"),
    ),
    "numbers-with-their-places": Defect(
        "Numbers are not read as letters if each has another number beside it.",
        6,
        "ellmer_core.transport.character_codes",
        "    if len(numbers) >= 2 * LEAST:\n",
        "    if len(numbers) < 0:\n",
        ("tests/transport/test_sent_keys.py", "-k", "places"),
    ),
    "found-before-the-rest-is-read": Defect(
        "What one search has found is cut out before the next one reads the text, so the end of a dump of bytes stays.",
        6,
        "ellmer_core.transport.keys_in_errors",
        "    return _cut(text, _apart([span for spans in searches for span in spans(text, keys)]))\n",
        "    for spans in searches:\n        text = _cut(text, _apart(spans(text, keys)))\n    return text\n",
        ("tests/transport/test_sent_keys.py", "-k", "dump"),
    ),
}


class _Loader(SourceFileLoader):
    """Compiles the source of a module with its defect."""

    put_back: Defect

    def get_code(self, fullname: str) -> CodeType | None:
        source = self.get_data(self.path).decode()
        if source.count(self.put_back.now) != 1:
            raise ImportError(f"{fullname} has not once {self.put_back.now!r}")
        changed = source.replace(self.put_back.now, self.put_back.defect)
        return compile(changed, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds the module of a defect."""

    def __init__(self, put_back: Defect) -> None:
        self.put_back = put_back

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.put_back.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            loader = _Loader(fullname, spec.origin)
            loader.put_back = self.put_back
            spec.loader = loader
        return spec


if name := os.environ.get("DEFECT"):
    assert DEFECTS[name].module not in sys.modules, "the plugin is loaded first"
    sys.meta_path.insert(0, _Finder(DEFECTS[name]))
