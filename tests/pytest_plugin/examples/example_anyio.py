"""anyio, on both of its backends."""

import anyio
import pytest


@pytest.mark.anyio
async def test_that_a_scope_is_cancelled():
    with anyio.move_on_after(0.1) as scope:
        await anyio.sleep(10)
    assert scope.cancelled_caught


@pytest.mark.anyio
async def test_that_tasks_talk():
    send, receive = anyio.create_memory_object_stream(0)
    got = []

    async def work():
        async with send:
            for number in range(3):
                await anyio.sleep(0.05)
                await send.send(number)

    async with anyio.create_task_group() as group:
        group.start_soon(work)
        async with receive:
            got += [number async for number in receive]
    assert got == [0, 1, 2]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param
