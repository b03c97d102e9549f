"""Threads, with what the standard library lets them wait for."""

import concurrent.futures
import queue
import sched
import threading
import time

import pytest


def test_that_a_sleep_takes_its_time():
    began = time.monotonic()
    time.sleep(0.2)
    assert time.monotonic() - began >= 0.2


def test_that_a_queue_hands_over():
    items = queue.Queue()

    def work():
        for number in range(3):
            time.sleep(0.05)
            items.put(number)

    thread = threading.Thread(target=work)
    thread.start()
    assert [items.get(timeout=5) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(queue.Empty):
        items.get(timeout=0.1)
    thread.join()


def test_that_a_thread_timer_fires_unless_it_is_cancelled():
    fired = threading.Event()
    threading.Timer(0.1, fired.set).start()
    never = threading.Timer(0.05, lambda: pytest.fail("it was cancelled"))
    never.start()
    never.cancel()
    assert fired.wait(5)


def test_that_an_event_is_not_set():
    began = time.monotonic()
    assert not threading.Event().wait(0.1)
    assert time.monotonic() - began >= 0.1


def test_that_a_pool_shares_the_work():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(time.sleep, 0.05) for _ in range(6)]
        done, left = concurrent.futures.wait(futures, timeout=5)
    assert (len(done), len(left)) == (6, 0)


def test_that_a_barrier_breaks():
    barrier = threading.Barrier(2)
    with pytest.raises(threading.BrokenBarrierError):
        barrier.wait(0.1)


def test_that_a_scheduler_runs_events_in_order():
    scheduler, ran = sched.scheduler(time.monotonic, time.sleep), []
    for delay in (0.15, 0.05, 0.1):
        scheduler.enter(delay, 0, ran.append, (delay,))
    scheduler.run()
    assert ran == [0.05, 0.1, 0.15]


def test_that_sleepers_wake_in_order():
    order = []

    def work(number):
        time.sleep(0.1 * number)
        order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in (3, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert order == [1, 2, 3]
