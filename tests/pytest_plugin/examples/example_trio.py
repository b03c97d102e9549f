"""trio, by pytest-trio."""

import time

import pytest
import trio

pytestmark = pytest.mark.trio


async def test_that_tasks_sleep_side_by_side():
    order = []

    async def work(name, *delays):
        for delay in delays:
            await trio.sleep(delay)
            order.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work, "a", 0.05, 0.1)
        nursery.start_soon(work, "b", 0.1, 0.15)
        nursery.start_soon(work, "c", 0.2)
    assert order == ["a", "b", "a", "c", "b"]


async def test_that_a_deadline_passes():
    with trio.move_on_after(0.1) as scope:
        await trio.sleep_forever()
    assert scope.cancelled_caught
    with pytest.raises(trio.TooSlowError), trio.fail_after(0.05):
        await trio.sleep(10)


async def test_that_streams_carry_data():
    ours, theirs = trio.testing.memory_stream_pair()

    async def work():
        await trio.sleep(0.1)
        await theirs.send_all(b"hello")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        assert await ours.receive_some() == b"hello"


async def test_that_threads_work_for_tasks():
    began = trio.current_time()
    await trio.to_thread.run_sync(time.sleep, 0.1)
    assert trio.current_time() - began >= 0.1
