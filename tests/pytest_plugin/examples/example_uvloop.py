"""uvloop."""

import asyncio

import pytest

uvloop = pytest.importorskip("uvloop")


def test_that_sleeps_end_in_their_order():
    order = []

    async def sleep(seconds):
        await asyncio.sleep(seconds)
        order.append(seconds)

    async def main():
        await asyncio.gather(*(sleep(seconds) for seconds in (0.3, 0.1, 0.2)))

    uvloop.run(main())
    assert order == [0.1, 0.2, 0.3]


def test_that_a_time_limit_ends_a_wait():
    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.2)

    uvloop.run(main())


def test_that_a_server_answers_after_a_while():
    async def serve(reader, writer):
        await asyncio.sleep(0.2)
        writer.write(await reader.readline())
        writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            address = server.sockets[0].getsockname()
            reader, writer = await asyncio.open_connection(*address)
            writer.write(b"hello\n")
            assert await asyncio.wait_for(reader.readline(), 5) == b"hello\n"
            writer.close()

    uvloop.run(main())
