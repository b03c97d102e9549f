"""asyncio: what each does takes as long without virtual time, and comes to the same."""

import asyncio
import contextlib
import itertools
import time

import pytest


def test_that_tasks_sleep_side_by_side():
    order = []

    async def work(name, *delays):
        for delay in delays:
            await asyncio.sleep(delay)
            order.append(name)

    async def main():
        await asyncio.gather(work("a", 0.05, 0.1), work("b", 0.1, 0.15), work("c", 0.2))

    asyncio.run(main())
    assert order == ["a", "b", "a", "c", "b"]


def test_that_equal_sleeps_end_in_order():
    order = []

    async def work(number):
        await asyncio.sleep(0.1)
        order.append(number)

    async def main():
        await asyncio.gather(*map(work, range(20)))

    asyncio.run(main())
    assert order == list(range(20))


def test_that_a_time_limit_cancels():
    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.2)
        async with asyncio.timeout(0.2):
            await asyncio.sleep(0.1)

    asyncio.run(main())


def test_that_calls_are_made_later_and_cancelled():
    called = []

    async def main():
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, called.append, "later")
        loop.call_at(loop.time() + 0.05, called.append, "at")
        loop.call_later(0.15, called.append, "never").cancel()
        await asyncio.sleep(0.2)

    asyncio.run(main())
    assert called == ["at", "later"]


def test_that_a_queue_is_emptied_at_its_own_pace():
    done = []

    async def consume(items):
        while True:
            item = await items.get()
            await asyncio.sleep(0.02)
            done.append(item)
            items.task_done()

    async def main():
        items = asyncio.Queue(2)
        consumer = asyncio.create_task(consume(items))
        for item in range(10):
            await items.put(item)
        await items.join()
        consumer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await consumer

    asyncio.run(main())
    assert done == list(range(10))


def test_that_a_server_answers_slowly():
    async def serve(reader, writer):
        while line := await reader.readline():
            await asyncio.sleep(0.05)
            writer.write(line)
        writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for _ in range(3):
            writer.write(b"hello\n")
            assert await asyncio.wait_for(reader.readline(), 5) == b"hello\n"
        writer.close()
        server.close()

    asyncio.run(main())


def test_that_threads_work_for_tasks():
    async def main():
        began = time.monotonic()
        await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.1) for _ in range(3)))
        assert 0.1 <= time.monotonic() - began < 5

    asyncio.run(main())


def test_that_retries_wait_longer_each_time():
    tries = []

    async def connect():
        tries.append(asyncio.get_running_loop().time())
        if len(tries) < 4:
            raise ConnectionError

    async def main():
        for delay in (0.02, 0.04, 0.08, 0.16):
            with contextlib.suppress(ConnectionError):
                await connect()
                return
            await asyncio.sleep(delay)

    asyncio.run(main())
    waited = [after - before for before, after in itertools.pairwise(tries)]
    assert len(tries) == 4
    assert all(time >= delay for time, delay in zip(waited, (0.02, 0.04, 0.08), strict=True))


@pytest.mark.asyncio
async def test_that_tests_of_pytest_asyncio_wait():
    began = asyncio.get_running_loop().time()
    await asyncio.sleep(0.2)
    assert asyncio.get_running_loop().time() - began >= 0.2
