"""Programs of the libraries that have adapters, and Pythons that can run them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from shutil import which

import pytest

#: A Python to look into first; the development environment has no game engines.
PYTHON_VARIABLE = "TIMELINE_INSPECTOR_ADAPTERS_PYTHON"


@dataclass(frozen=True)
class Library:
    """A library with a program of it.

    Attributes:
        module: What has to be importable.
        clock: What the name of its clock begins with.
        code: A program with a timer every 50 ms whose name ends with ``ticking``, from line 3 on,
            and another that is as long as the library takes.
        has_frames: Whether the program has frames.
        needs_display: Whether it needs a display.
        due_in_frames: Whether timers fire only when a frame looks at them.
        asked_ns: The time from frame to frame that its loop asks for, 0 if it does not say.
    """

    module: str
    clock: str
    code: str
    has_frames: bool = True
    needs_display: bool = False
    due_in_frames: bool = False
    asked_ns: int = 0

    def __str__(self) -> str:
        return self.module


def pythons() -> list[str]:
    """Return the Pythons to look into."""
    return list(filter(None, (os.environ.get(PYTHON_VARIABLE), sys.executable)))


def python_with(module: str) -> str:
    """Return a Python that can import a module; without one, the test is skipped."""
    for python in pythons():
        if can_import(python, module):
            return python
    pytest.skip(f"{module} is not installed; “uv sync --group adapters” gets all but tkinter")


@cache
def can_import(python: str, module: str) -> bool:
    """Return whether a Python has a module."""
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", code], check=False, capture_output=True).returncode == 0


@contextmanager
def display() -> Iterator[str]:
    """Have a display of one's own; without an X server, the test is skipped."""
    server = which("Xvfb")
    if server is None:
        pytest.skip("there is no Xvfb to show windows on")
    reader, writer = os.pipe()
    # Without -noreset, it begins again after each program.
    options = ["-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"]
    command = [server, "-displayfd", str(writer), *options]
    with subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as process:
        os.close(writer)
        try:
            with os.fdopen(reader) as numbers:
                yield f":{numbers.readline().strip()}"
        finally:
            process.terminate()


PYGAME = """
import pygame
pygame.init()
pygame.display.set_mode((100, 100))
ticking = pygame.USEREVENT
pygame.event.event_name = lambda number: "ticking" if number == ticking else "longest"
pygame.time.set_timer(ticking, 50)
pygame.time.set_timer(ticking + 1, 2**31 - 1)
clock = pygame.time.Clock()
while True:
    pygame.event.get()
    pygame.display.flip()
    clock.tick(50)
"""
PYGLET = """
import pyglet
def ticking(dt): pass
pyglet.clock.schedule_interval(ticking, 0.05)
pyglet.clock.schedule_once(print, 1e300)
pyglet.app.run()
"""
QT = """
import os
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from {binding}.QtCore import QCoreApplication, QTimer
application = QCoreApplication([])
class Program:
    def __init__(self):
        self.ticking = QTimer()
        self.ticking.timeout.connect(lambda: None)
        self.ticking.start(50)
program = Program()
longest = QTimer()
longest.start(2**31 - 1)
application.exec()
"""
UVLOOP = """
import asyncio, uvloop
async def main():
    asyncio.get_running_loop().call_later(float("inf"), print)
    async def ticking():
        while True:
            await asyncio.sleep(0.05)
    await asyncio.create_task(ticking())
uvloop.run(main())
"""
TRIO = """
import trio
async def ticking():
    while True:
        await trio.sleep(0.05)
async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 1e300)
        nursery.start_soon(ticking)
trio.run(main)
"""
TKINTER = """
import tkinter
root = tkinter.Tk()
def ticking(): root.after(50, ticking)
root.after(50, ticking)
root.after(2**31 - 1, print)
root.mainloop()
"""
TWISTED = """
from twisted.internet import reactor
def ticking():
    reactor.callLater(0.05, ticking)
reactor.callLater(0.05, ticking)
reactor.callLater(1e300, print)
reactor.run()
"""
KIVY = """
import os
os.environ.update(KIVY_NO_ARGS="1", KIVY_NO_CONSOLELOG="1", KIVY_NO_FILELOG="1")
from kivy.clock import Clock
def ticking(dt): pass
Clock.schedule_interval(ticking, 0.05)
Clock.schedule_once(print, 1e300)
while True:
    Clock.tick()
"""
PANDA3D = """
from panda3d.core import loadPrcFileData
loadPrcFileData("", "window-type none")
loadPrcFileData("", "audio-library-name null")
loadPrcFileData("", "clock-mode limited")
loadPrcFileData("", "clock-frame-rate 60")
from direct.showbase.ShowBase import ShowBase
base = ShowBase()
def ticking(task):
    return task.again
base.taskMgr.doMethodLater(0.05, ticking, "ticking")
base.taskMgr.doMethodLater(1e300, print, "longest")
base.run()
"""

LIBRARIES = (
    Library("pygame", "pygame", PYGAME, due_in_frames=True, asked_ns=20_000_000),
    Library("pyglet", "pyglet", PYGLET, needs_display=True),
    Library("PySide6", "PySide6", QT.format(binding="PySide6"), has_frames=False),
    Library("PyQt6", "PyQt6", QT.format(binding="PyQt6"), has_frames=False),
    Library("uvloop", "uvloop", UVLOOP, has_frames=False),
    Library("trio", "trio", TRIO, has_frames=False),
    Library("twisted", "Twisted", TWISTED),
    Library("_tkinter", "tkinter", TKINTER, needs_display=True),
    Library("kivy", "Kivy", KIVY, needs_display=True, asked_ns=16_666_667),
    Library("direct", "Panda3D", PANDA3D, due_in_frames=True),
)
