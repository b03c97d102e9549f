"""Qt, by pytest-qt."""

from PySide6.QtCore import QElapsedTimer, QTimer


def test_that_an_interval_fires(qtbot):
    fired = []
    timer = QTimer(interval=50)
    timer.timeout.connect(lambda: fired.append(None))
    timer.start()
    qtbot.waitUntil(lambda: len(fired) == 4, timeout=5000)
    timer.stop()


def test_that_a_single_shot_fires(qtbot):
    order = []
    QTimer.singleShot(100, lambda: order.append("second"))
    QTimer.singleShot(50, lambda: order.append("first"))
    qtbot.waitUntil(lambda: len(order) == 2, timeout=5000)
    assert order == ["first", "second"]


def test_that_waiting_takes_its_time(qtbot):
    elapsed = QElapsedTimer()
    elapsed.start()
    qtbot.wait(200)
    assert elapsed.elapsed() >= 190
