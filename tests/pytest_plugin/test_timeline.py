"""What tests do with the fixture ``timeline`` and its mark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pytest_plugin.running import run_source

HEAD = """
    import asyncio, queue, threading, time
    from time import monotonic, sleep
    import pytest
"""


def assert_passes(tmp_path: Path, source: str, *args: str, plugins: tuple[str, ...] = ()) -> None:
    outcome = run_source(tmp_path, HEAD + source, *args, plugins=plugins)
    assert outcome.counts.get("passed") == source.count("def test_"), outcome.output
    assert not outcome.counts.keys() & {"failed", "error", "errors"}, outcome.output


def test_that_time_jumps_over_sleeps_also_of_functions_imported_by_name(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    @pytest.mark.timeline(autojump=True)
    def test_sleeps(timeline):
        began, began_of_day = monotonic(), time.time()
        sleep(3600)
        time.sleep(1)
        assert timeline.now == 3601
        assert monotonic() - began == pytest.approx(3601)
        assert time.time() - began_of_day == pytest.approx(3601)
    """,
    )


def test_that_a_loop_waits_really_for_no_sleep_however_short(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    import selectors

    @pytest.mark.timeline(autojump=True)
    def test_short_sleeps(timeline, monkeypatch):
        waited, select = [], selectors.DefaultSelector.select

        def noting_select(selector, timeout=None):
            waited.append(timeout)
            return select(selector, timeout)

        monkeypatch.setattr(selectors.DefaultSelector, "select", noting_select)
        for seconds in (0.001, 0.5, 1, 2):
            asyncio.run(asyncio.sleep(seconds))
        assert set(waited) <= {None, 0}
        assert 0 in waited
    """,
    )


def test_that_time_stands_until_a_notified_thread_goes_on(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    from inspector.probe.waits import Waits

    @pytest.mark.timeline(autojump=True)
    def test_notified(timeline, monkeypatch):
        condition, over, end = threading.Condition(), [], Waits.end

        def noting_end(waits, wait):
            if threading.current_thread() is waiting:
                over.append(wait.is_over())
            end(waits, wait)

        def wait():
            with condition:
                condition.wait()

        waiting = threading.Thread(target=wait)
        monkeypatch.setattr(Waits, "end", noting_end)
        waiting.start()
        sleep(1)
        with condition:
            condition.notify()
        waiting.join()
        assert over == [True]
    """,
    )


def test_that_datetime_is_of_virtual_time(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    import datetime as module
    from datetime import date, datetime, timedelta, timezone

    @pytest.mark.timeline(hold=True)
    def test_advance(timeline):
        def present():
            return [datetime.now(), module.datetime.now(timezone.utc), datetime.today()]

        before, day = present(), date.today()
        timeline.advance(60)
        passed = [after - each for after, each in zip(present(), before)]
        assert all(abs(each - timedelta(minutes=1)) < timedelta(milliseconds=1) for each in passed)
        timeline.advance(24 * 3600)
        assert date.today() - day >= timedelta(days=1)
        assert type(datetime.now()) is datetime

    @pytest.mark.timeline(autojump=True)
    def test_waiting_by_it(timeline):
        end = datetime.now() + timedelta(seconds=5)
        while datetime.now() < end:
            time.sleep(1)
        assert timeline.now == 5

    def test_after_it():
        assert abs(datetime.now().timestamp() - time.time()) < 60
    """,
    )


def test_that_equal_sleeps_of_asyncio_end_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    @pytest.mark.timeline(autojump=True)
    def test_order():
        order = []

        async def one(number):
            await asyncio.sleep(5)
            order.append(number)

        async def main():
            await asyncio.gather(*(one(number) for number in range(50)))

        asyncio.run(main())
        assert order == list(range(50))
    """,
    )


def test_that_threads_wait_in_virtual_time(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    pytestmark = pytest.mark.timeline(autojump=True)

    def test_queues(timeline):
        items, seen = queue.Queue(), []

        def work(number):
            for _ in range(5):
                time.sleep(2)
                items.put(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(15):
            seen.append(items.get(timeout=10))
        for thread in threads:
            thread.join()
        assert sorted(seen) == sorted([0, 1, 2] * 5)
        with pytest.raises(queue.Empty):
            items.get(timeout=100)
        assert timeline.now == 110

    def test_events(timeline):
        event = threading.Event()
        threading.Timer(50, event.set).start()
        assert event.wait(60)
        assert not threading.Event().wait(30)
        assert timeline.now == 80

    def test_a_join_that_is_not_waited_for(timeline):
        thread = threading.Thread(target=time.sleep, args=(100,))
        thread.start()
        thread.join(10)
        assert thread.is_alive()
        assert timeline.now == 10
        thread.join()
        assert timeline.now == 100

    def test_locks_of_c(timeline):
        lock = threading.Lock()
        lock.acquire()

        def work():
            time.sleep(100)
            lock.release()

        threading.Thread(target=work).start()
        lock.acquire()
        assert timeline.now == 100

    def test_pools(timeline):
        async def main():
            await asyncio.gather(*(asyncio.to_thread(time.sleep, 5) for _ in range(4)))
            await asyncio.sleep(5)

        asyncio.run(main())
        assert timeline.now == 10
    """,
    )


def test_that_time_is_held_advanced_and_looked_at(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    @pytest.mark.timeline(hold=True)
    def test_threads(timeline):
        fired = []
        threading.Timer(5, lambda: fired.append(timeline.now)).start()
        timeline.advance(4.9)
        assert not fired
        assert [timer.due for timer in timeline.timers()] == [pytest.approx(0.1)]
        timeline.advance(0.1)
        assert fired == [5]
        threading.Timer(5, lambda: fired.append(timeline.now)).start()
        timeline.advance_to_next()
        assert fired == [5, 10]
        assert timeline.now == 10
        with pytest.raises(AssertionError, match="no timer will be due"):
            timeline.advance_to_next()

    @pytest.mark.asyncio
    @pytest.mark.timeline(hold=True)
    async def test_coroutines(timeline):
        seen = []

        async def tick():
            while True:
                await asyncio.sleep(1)
                seen.append(timeline.now)

        task = asyncio.create_task(tick())
        await timeline.advance(3)
        assert seen == [1, 2, 3]
        [timer] = timeline.timers()
        assert timer.name == "sleep in test_coroutines.<locals>.tick"
        firing = await timeline.expect_fired("tick", at=4)
        assert (firing.at, firing.late) == (4, 0)
        await timeline.run_until(lambda: len(seen) == 8)
        assert timeline.now == 8
        with pytest.raises(AssertionError, match="does not hold after 4 s"):
            await timeline.run_until(lambda: False, within=4)
        with pytest.raises(AssertionError, match="fired at 13 s, not at 20 s"):
            await timeline.expect_fired("tick", at=20)
        with pytest.raises(AssertionError, match="no timer .boom. has fired within 3 s"):
            await timeline.expect_fired("boom", within=3)
        with pytest.raises(ZeroDivisionError):
            await timeline.run_until(lambda: 1 / 0)
        task.cancel()
    """,
        plugins=("asyncio",),
    )


def test_that_time_passes_faster_by_a_rate(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    @pytest.mark.timeline(rate=1000)
    def test_rate(timeline):
        async def main():
            await asyncio.sleep(100)

        asyncio.run(main())
        time.sleep(100)
        assert 200 <= timeline.now < 20_000

    def test_without_a_mark_time_runs(timeline):
        began = timeline.now
        time.sleep(0.01)
        assert 0.01 <= timeline.now - began < 10
        timeline.autojump()
        time.sleep(1000)
        assert timeline.now > 1000
    """,
    )


def test_that_sockets_of_the_test_itself_need_no_real_time(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    @pytest.mark.timeline(autojump=True)
    def test_streams(timeline):
        async def serve(reader, writer):
            while line := await reader.readline():
                await asyncio.sleep(10)
                writer.write(line)
            writer.close()

        async def ask(port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(5):
                writer.write(b"hello\\n")
                assert await asyncio.wait_for(reader.readline(), 20) == b"hello\\n"
            writer.close()

        async def main():
            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            await asyncio.gather(*(ask(port) for _ in range(10)))
            server.close()

        asyncio.run(main())
        assert timeline.now == 50
    """,
    )


@pytest.mark.parametrize(("outside", "least", "most"), [("pass", 0.2, 15), ("stand", 0, 0)])
def test_that_time_passes_or_stands_while_another_program_is_awaited(
    tmp_path: Path, outside: str, least: float, most: float
) -> None:
    assert_passes(
        tmp_path,
        f"""
    import subprocess, sys

    @pytest.mark.timeline(autojump=True, outside={outside!r})
    def test_subprocess(timeline):
        async def main():
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", "import time; time.sleep(0.3); print(1)",
                stdout=subprocess.PIPE,
            )
            output, _ = await asyncio.wait_for(process.communicate(), 30)
            assert output.strip() == b"1"

        asyncio.run(main())
        assert {least} <= timeline.now <= {most}
        asyncio.run(asyncio.sleep(1000))
    """,
    )


def test_that_loops_which_only_read_the_time_end(tmp_path: Path) -> None:
    assert_passes(
        tmp_path,
        """
    pytestmark = pytest.mark.timeline(autojump=True)

    def test_threads(timeline):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            pass
        assert 5 <= timeline.now < 5.1
        thread = threading.Thread(target=sleep, args=(5,), daemon=True)
        thread.start()
        thread.join(6)
        assert not thread.is_alive()

    @pytest.fixture
    def sooner(monkeypatch):
        monkeypatch.setattr("inspector.pytest_plugin.run.MOST_READINGS", 1_000)

    def test_what_is_due_meanwhile(timeline, sooner):
        began = time.monotonic()
        thread = threading.Thread(target=sleep, args=(0.0105,), daemon=True)
        thread.start()
        while time.monotonic() - began < 0.0105:
            pass
        assert time.monotonic() - began < 0.012
        thread.join()

    def test_tasks(timeline, sooner):
        async def main():
            seen = []
            asyncio.get_running_loop().call_later(3, seen.append, 1)
            while not seen:
                await asyncio.sleep(0)

        asyncio.run(main())
        assert 3 <= timeline.now < 3.1
    """,
    )


def test_that_calls_come_in_the_same_order_in_every_run(tmp_path: Path) -> None:
    source = (
        HEAD
        + """
    @pytest.mark.timeline(autojump=True)
    def test_order():
        order = []

        def work(name, delay):
            for number in range(4):
                time.sleep(delay)
                order.append(f"{name}{number}")

        async def tick(name):
            for number in range(4):
                await asyncio.sleep(1)
                order.append(f"{name}{number}")

        async def main():
            threads = asyncio.to_thread(work, "a", 1), asyncio.to_thread(work, "b", 2)
            await asyncio.gather(tick("x"), tick("y"), *threads)

        asyncio.run(main())
        print("order:", *order)
    """
    )
    runs = [run_source(tmp_path, source).output for _ in range(3)]

    orders = {line for run in runs for line in run.splitlines() if "order:" in line}
    assert len(orders) == 1, orders
    assert "b3" in orders.pop()
