"""tkinter."""

import tkinter as tk

import pytest


@pytest.fixture
def root():
    root = tk.Tk()
    yield root
    root.destroy()


def test_that_timers_fire_in_their_order(root):
    order = []
    root.after(200, lambda: order.append("second"))
    root.after(100, lambda: order.append("first"))
    root.after(300, root.quit)
    root.mainloop()
    assert order == ["first", "second"]


def test_that_an_interval_sets_itself_again(root):
    beats = []

    def beat():
        beats.append(None)
        if len(beats) == 4:
            root.quit()
        else:
            root.after(50, beat)

    root.after(50, beat)
    root.mainloop()
    assert len(beats) == 4
