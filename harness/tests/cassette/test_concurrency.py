"""Many requests at once: the answers are the same in any order, and the file does not change."""

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from ellmer_harness import use_cassette
from ellmer_harness.interception.open_cassettes import Clock

API = "https://api.example.com"


def ask(number, client=httpx):
    return int(
        client.post(API, json={"n": number, "pad": "x" * (number % 3)})
        .json()["echo"]
        .split(":")[1]
        .split(",")[0]
    )


async def gathered(numbers):
    async with httpx.AsyncClient() as client:
        responses = await asyncio.gather(*(client.post(API, json={"n": n}) for n in numbers))
    return [int(response.json()["echo"].strip('{}"n:')) for response in responses]


def threaded(numbers, workers=8):
    with ThreadPoolExecutor(workers) as pool, httpx.Client() as client:
        return list(pool.map(lambda n: ask(n, client), numbers))


@pytest.mark.parametrize(
    "run", [threaded, lambda numbers: asyncio.run(gathered(numbers))], ids=["threads", "tasks"]
)
def test_each_request_gets_its_own_answer_in_any_order(server, record, tmp_path, run):
    with use_cassette(tmp_path / "c.json", **record):
        assert run(range(40)) == list(range(40))
    with use_cassette(tmp_path / "c.json"):
        assert run(range(39, -1, -1)) == list(range(39, -1, -1))


@pytest.mark.parametrize(
    "run", [threaded, lambda numbers: asyncio.run(gathered(numbers))], ids=["threads", "tasks"]
)
def test_recording_concurrent_requests_gives_the_same_file(server, record, tmp_path, run):
    texts = set()
    for order in (range(20), range(19, -1, -1), [*range(10, 20), *range(10)]):
        with use_cassette(tmp_path / "c.json", **record):
            run(order)
        texts.add((tmp_path / "c.json").read_text())
    assert len(texts) == 1


def test_one_after_the_other_keeps_the_order_whoever_asks(server, record, tmp_path):
    async def one(number):
        async with httpx.AsyncClient() as client:
            await client.post(API, json={"n": number})

    def step(number):
        asyncio.run(one(number))

    with use_cassette(tmp_path / "tasks.json", **record):
        for number in (3, 1, 2):
            step(number)  # each a task of its own
    with use_cassette(tmp_path / "plain.json", **record):
        for number in (3, 1, 2):
            httpx.post(API, json={"n": number})
    assert (tmp_path / "tasks.json").read_text() == (tmp_path / "plain.json").read_text()


def test_identical_requests_at_once_each_get_a_recording(server, record, tmp_path):
    for number in range(8):
        server.whole({"say": number})

    def run():
        with ThreadPoolExecutor(4) as pool, httpx.Client() as client:
            return sorted(pool.map(lambda _: client.post(API, json={}).json()["say"], range(8)))

    with use_cassette(tmp_path / "c.json", **record):
        assert run() == list(range(8))
    with use_cassette(tmp_path / "c.json"):
        assert run() == list(range(8))


def test_two_cassettes_in_two_tasks_do_not_mix(server, record, tmp_path):
    async def session(name, both_open, **options):
        with use_cassette(tmp_path / f"{name}.json", **options) as cassette:
            await both_open.wait()
            async with httpx.AsyncClient() as client:
                for number in range(5):
                    await client.post(API, json={"who": name, "n": number})
        return [sent.json["who"] for sent in cassette.sent]

    async def both(**options):
        barrier = asyncio.Barrier(2)
        return await asyncio.gather(session("a", barrier, **options), session("b", barrier, **options))

    expected = [["a"] * 5, ["b"] * 5]
    assert asyncio.run(both(**record)) == expected
    assert '"b"' not in (tmp_path / "a.json").read_text()
    assert asyncio.run(both()) == expected


def test_two_cassettes_with_the_same_options_are_two(server, record, tmp_path):
    """A context that has the first one, which is closed, asks while the second one is open."""
    options = {**record, "clock": Clock()}
    with use_cassette(tmp_path / "first.json", allow_idle=True, **options) as first:
        context = contextvars.copy_context()
    with use_cassette(tmp_path / "second.json", allow_idle=True, **options) as second:
        context.run(httpx.get, API)
    assert (len(first.sent), len(second.sent)) == (0, 1)
    assert first != second


def test_two_cassettes_in_two_threads_do_not_mix(server, record, tmp_path):
    def run(**options):
        barrier, seen = threading.Barrier(2), {}

        def session(name):
            with use_cassette(tmp_path / f"{name}.json", **options) as cassette:
                barrier.wait()
                for number in range(5):
                    httpx.post(API, json={"who": name, "n": number})
                barrier.wait()
            seen[name] = {sent.json["who"] for sent in cassette.sent}

        threads = [threading.Thread(target=session, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return seen

    before = httpx.HTTPTransport.handle_request
    assert run(**record) == {"a": {"a"}, "b": {"b"}}
    assert run() == {"a": {"a"}, "b": {"b"}}
    assert httpx.HTTPTransport.handle_request is before


def test_a_thread_that_is_given_the_context_knows_its_cassette(server, record, tmp_path):
    with use_cassette(tmp_path / "outer.json", **record) as outer:
        ask(1)
        with use_cassette(tmp_path / "inner.json", **record) as inner:
            thread = threading.Thread(target=contextvars.copy_context().run, args=(ask, 2))
            thread.start()
            thread.join()
    assert (len(outer.sent), len(inner.sent)) == (1, 1)


def test_a_task_that_outlives_its_cassette_is_on_its_own(server, record, tmp_path):
    async def main():
        with use_cassette(tmp_path / "c.json", **record) as cassette:
            await gathered([1])
            closed = asyncio.Event()

            async def later():
                await closed.wait()
                async with httpx.AsyncClient() as client:
                    return (await client.post(server.url, json={})).status_code

            task = asyncio.create_task(later())
        closed.set()
        return await task, len(cassette.sent)

    assert asyncio.run(main()) == (200, 1)
