"""``timeline.advance`` runs the loops of a test that does not run them itself."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.probe.adapters.libraries import display
from tests.pytest_plugin.running import run_source

HEAD: Final = """
    import asyncio, pytest
    pytestmark = pytest.mark.timeline(hold=True)
"""
#: Tests, by library.
SOURCES: Final = {
    "asyncio": """
    def test_loop_that_has_not_run(timeline):
        loop, fired = asyncio.new_event_loop(), []

        async def ticks():
            while True:
                await asyncio.sleep(1)
                fired.append(timeline.now)

        loop.call_later(1.5, lambda: fired.append(timeline.now))
        task = loop.create_task(ticks())
        timeline.advance(2.5)
        assert fired == [1, 1.5, 2]
        loop.run_until_complete(timeline.advance(1))
        assert fired == [1, 1.5, 2, 3]
        timeline.advance_to_next()
        assert fired == [1, 1.5, 2, 3, 4]
        task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    def test_several(timeline):
        loops = [asyncio.new_event_loop() for _ in range(2)]
        for loop in loops:
            loop.call_later(1, lambda: None)
        with pytest.raises(AssertionError, match="2 event loops of asyncio have something"):
            timeline.advance(1)
        for loop in loops:
            loop.close()
    """,
    "uvloop": """
    def test_it(timeline):
        loop, fired = pytest.importorskip("uvloop").new_event_loop(), []
        loop.call_later(2, lambda: fired.append(timeline.now))
        timeline.advance(3)
        assert (fired, timeline.now) == ([2], 3)
        loop.close()
    """,
    "trio": """
    @pytest.mark.trio
    async def test_it(timeline):
        trio, fired = pytest.importorskip("trio"), []

        async def work():
            await trio.sleep(5)
            fired.append(timeline.now)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(work)
            await timeline.advance(4)
            assert not fired
            await timeline.advance(1)
            assert fired == [5]
    """,
    "anyio": """
    @pytest.mark.anyio
    @pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
    async def test_it(timeline, anyio_backend):
        anyio, fired = pytest.importorskip("anyio"), []

        async def work():
            await anyio.sleep(5)
            fired.append(timeline.now)

        async with anyio.create_task_group() as group:
            group.start_soon(work)
            await timeline.advance(4)
            assert not fired
            await timeline.advance(1)
            assert fired == [5]
    """,
    "twisted": """
    import pytest_twisted
    from twisted.internet import reactor

    @pytest_twisted.inlineCallbacks
    def test_yielded(timeline):
        fired = []
        reactor.callLater(2, lambda: fired.append(timeline.now))
        yield timeline.advance(3)
        assert fired == [2]
        with pytest.raises(AssertionError, match="does not hold after 1 s"):
            yield timeline.run_until(lambda: False, within=1)

    @pytest_twisted.ensureDeferred
    async def test_awaited(timeline):
        fired = []
        reactor.callLater(2, lambda: fired.append(timeline.now))
        await timeline.advance(3)
        assert fired == [2]

    @pytest.fixture
    def fired(timeline):
        fired = []
        reactor.callLater(2, fired.append, "fired")
        timeline.advance(3)
        return list(fired)

    def test_waited_for(fired):
        assert fired == ["fired"]
    """,
    "qt": """
    def test_it(timeline, qtbot):
        from pytestqt.qt_compat import qt_api

        timer, fired = qt_api.QtCore.QTimer(), []
        timer.timeout.connect(lambda: fired.append(timeline.now))
        timer.start(1000)
        timeline.advance(3.5)
        assert fired == [1, 2, 3]
    """,
    "tkinter": """
    def test_it(timeline):
        root, fired = pytest.importorskip("tkinter").Tk(), []

        def again():
            fired.append(timeline.now)
            root.after(1000, again)

        root.after(1000, again)
        timeline.advance(3.5)
        assert fired == [1, 2, 3]
        timeline.advance_to_next()
        assert fired == [1, 2, 3, 4]
        timeline.run_until(lambda: len(fired) == 6)
        assert timeline.now == 6
        root.destroy()
    """,
    "pygame": """
    def test_it(timeline):
        pygame = pytest.importorskip("pygame")
        pygame.init()
        pygame.display.set_mode((32, 32))
        pygame.event.clear()
        pygame.time.set_timer(pygame.USEREVENT, 1000)
        clock = pygame.time.Clock()
        clock.tick()
        timeline.advance(3.5)
        events = [each.type for each in pygame.event.get()]
        assert events.count(pygame.USEREVENT) == 3
        assert clock.tick() == 3500
        pygame.quit()
    """,
    "pyglet": """
    def test_it(timeline):
        pyglet, fired = pytest.importorskip("pyglet"), []
        pyglet.options["headless"] = True
        pyglet.clock.schedule_interval(lambda _: fired.append(timeline.now), 1)
        timeline.advance(3.5)
        assert fired == [1, 2, 3]
    """,
    "kivy": """
    def test_it(timeline):
        clock, fired = pytest.importorskip("kivy.clock").Clock, []

        def once(_):
            fired.append("once")
            clock.schedule_once(lambda _: fired.append("in the next frame"), 0)

        clock.schedule_once(once, 2)
        timeline.advance(1.9)
        assert not fired
        timeline.advance(0.2)
        assert fired == ["once", "in the next frame"]
    """,
    "panda3d": """
    def test_it(timeline):
        manager = pytest.importorskip("direct.task.TaskManagerGlobal").taskMgr
        fired = []
        manager.doMethodLater(2, lambda task: fired.append("once"), "once")
        timeline.advance(1.9)
        assert not fired
        timeline.advance(0.2)
        assert fired == ["once"]
    """,
    "threads": """
    def test_it(timeline):
        import queue, threading, time

        done = queue.Queue()
        threading.Thread(target=lambda: (time.sleep(2), done.put(timeline.now))).start()
        timeline.advance(1.9)
        assert done.empty()
        timeline.advance(0.2)
        assert done.get_nowait() == 2
    """,
}
_PLUGINS: Final = {"trio": ("trio",), "anyio": ("anyio",), "twisted": ("twisted",), "qt": ("qt",)}


@pytest.mark.parametrize("library", SOURCES)
def test_that_advancing_calls_what_is_due(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        if library == "tkinter":
            monkeypatch.setenv("DISPLAY", stack.enter_context(display()))
        plugins = _PLUGINS.get(library, ())
        outcome = run_source(tmp_path, HEAD + SOURCES[library], plugins=plugins)

    if outcome.counts.keys() == {"skipped"}:
        pytest.skip(f"{library} is not installed")
    assert outcome.counts.keys() == {"passed"}, outcome.output


def test_that_a_lock_of_a_library_in_c_is_waited_for(tmp_path: Path) -> None:
    # pygame.quit waits for threads of its own; tkinter has a loop that could be ended.
    outcome = run_source(
        tmp_path,
        HEAD
        + """
    def test_it(timeline):
        tkinter, pygame = pytest.importorskip("tkinter"), pytest.importorskip("pygame")
        for _ in range(3):
            pygame.init()
            pygame.quit()
    """,
    )

    if outcome.counts.keys() == {"skipped"}:
        pytest.skip("the libraries are not installed")
    assert outcome.counts.keys() == {"passed"}, outcome.output
