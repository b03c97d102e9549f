"""Programs whose calls are late for a known reason: a way of running, and what goes wrong in it.

Each is written to a file and run as it is; nothing in it knows of the inspector.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.late import scripts

_HEAD = """\
import gc, os, queue, re, signal, socket, subprocess, sys, threading, time

def crunch(seconds=0.25):
    end = time.thread_time() + seconds
    count = 0
    while time.thread_time() < end:
        count += 1
"""

#: How a library runs `job` twice while `tick` is due every 30 ms. The last line runs the loop for
#: 1.9 seconds.
LIBRARIES = {
    "asyncio-task": """
import asyncio
async def worker():
    for _ in range(2):
        await asyncio.sleep(0.5)
        job()
async def tick():
    while True:
        await asyncio.sleep(0.03)
async def main():
    waiting = asyncio.ensure_future(tick())
    working = asyncio.ensure_future(worker())
    await asyncio.sleep(1.9)
asyncio.run(main())
""",
    "asyncio-callback": """
import asyncio
def tick(loop):
    loop.call_later(0.03, tick, loop)
async def main():
    loop = asyncio.get_running_loop()
    tick(loop)
    loop.call_later(0.5, job)
    loop.call_later(1.2, job)
    await asyncio.sleep(1.9)
asyncio.run(main())
""",
    "uvloop": """
import asyncio, uvloop
async def worker():
    for _ in range(2):
        await asyncio.sleep(0.5)
        job()
async def tick():
    while True:
        await asyncio.sleep(0.03)
async def main():
    waiting = asyncio.ensure_future(tick())
    working = asyncio.ensure_future(worker())
    await asyncio.sleep(1.9)
uvloop.install()
asyncio.run(main())
""",
    "trio": """
import trio
async def worker():
    for _ in range(2):
        await trio.sleep(0.5)
        job()
async def tick():
    while True:
        await trio.sleep(0.03)
async def main():
    with trio.move_on_after(1.9):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(tick)
trio.run(main)
""",
    "twisted": """
from twisted.internet import reactor
def tick():
    reactor.callLater(0.03, tick)
tick()
reactor.callLater(0.5, job)
reactor.callLater(1.2, job)
reactor.callLater(1.9, reactor.stop)
reactor.run()
""",
    "qt": """
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtCore import QCoreApplication, QTimer
application = QCoreApplication([])
def tick():
    pass
ticker = QTimer()
ticker.timeout.connect(tick)
ticker.start(30)
QTimer.singleShot(500, job)
QTimer.singleShot(1200, job)
QTimer.singleShot(1900, application.quit)
application.exec()
""",
    "pyglet": """
os.environ["PYGLET_HEADLESS"] = "1"
import pyglet
pyglet.options["headless"] = True
def tick(dt):
    pass
def update(dt):
    job()
pyglet.clock.schedule_interval(tick, 0.03)
pyglet.clock.schedule_once(update, 0.5)
pyglet.clock.schedule_once(update, 1.2)
pyglet.clock.schedule_once(lambda dt: pyglet.app.exit(), 1.9)
pyglet.app.run()
""",
    "pygame": """
os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
import pygame
pygame.init()
screen = pygame.display.set_mode((64, 64))
pygame.time.set_timer(pygame.USEREVENT, 30)
clock = pygame.time.Clock()
def update(frame):
    if frame in (30, 70):
        job()
for frame in range(110):
    for event in pygame.event.get():
        pass
    update(frame)
    pygame.display.flip()
    clock.tick(60)
""",
    "tkinter": """
import tkinter
root = tkinter.Tk()
root.withdraw()
def tick():
    root.after(30, tick)
tick()
root.after(500, lambda: job())
root.after(1200, lambda: job())
root.after(1900, root.destroy)
root.mainloop()
""",
    "kivy": """
os.environ.update(KIVY_NO_ARGS="1", KIVY_NO_CONSOLELOG="1", KIVY_NO_FILELOG="1")
from kivy.clock import Clock
def tick(dt):
    pass
def update(dt):
    job()
def stop(dt):
    sys.exit()
Clock.schedule_interval(tick, 0.03)
Clock.schedule_once(update, 0.5)
Clock.schedule_once(update, 1.2)
Clock.schedule_once(stop, 1.9)
while True:
    Clock.tick()
""",
    "panda3d": """
from panda3d.core import loadPrcFileData
for line in ("window-type none", "audio-library-name null", "clock-mode limited"):
    loadPrcFileData("", line)
loadPrcFileData("", "clock-frame-rate 60")
from direct.showbase.ShowBase import ShowBase
base = ShowBase()
def tick(task):
    return task.again
def work(task):
    job()
base.taskMgr.doMethodLater(0.03, tick, "tick")
base.taskMgr.doMethodLater(0.5, work, "work")
base.taskMgr.doMethodLater(1.2, work, "work")
base.taskMgr.doMethodLater(1.9, lambda task: os._exit(0), "stop")
base.run()
""",
}

#: How a library runs a job that sets its next call 350 ms later once its work is done: the loop,
#: work that computes, and work that waits without blocking the loop.
SCHEDULES = {
    "asyncio-task": (
        """
import asyncio
async def poll():
    while True:
        await asyncio.sleep(0.35)
        WORK
async def main():
    polling = asyncio.ensure_future(poll())
    await asyncio.sleep(4.2)
asyncio.run(main())
""",
        "crunch(0.14)",
        "await asyncio.get_running_loop().run_in_executor(None, time.sleep, 0.14)",
    ),
    "twisted": (
        """
from twisted.internet import reactor, threads
def poll(done=None):
    WORK
def again(done=None):
    reactor.callLater(0.35, poll)
again()
reactor.callLater(4.2, reactor.stop)
reactor.run()
""",
        "crunch(0.14); again()",
        "threads.deferToThread(time.sleep, 0.14).addCallback(again)",
    ),
    "tkinter": (
        """
import tkinter
root = tkinter.Tk()
root.withdraw()
def poll():
    WORK
root.after(350, poll)
root.after(4200, root.destroy)
root.mainloop()
""",
        "crunch(0.14); root.after(350, poll)",
        "",
    ),
}


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong.

    Attributes:
        code: Defines ``job``, which the loop calls.
        cause: The cause of the late calls; empty if none is late. ``computing`` stands for that
            of the library.
        culprit: The function to blame, empty for none; of several, with blanks between.
        libraries: The libraries it is tried in.
        others: Other causes that are right too.
    """

    code: str
    cause: str
    culprit: str
    libraries: tuple[str, ...]
    others: tuple[str, ...] = ()


_ALL = tuple(LIBRARIES)
_TASKS = ("asyncio-task", "uvloop", "trio")
_FEW = ("asyncio-task", "twisted")

FAULTS = {
    "computes": Fault("def job():\n    crunch()\n", "computing", "crunch", _ALL),
    "computes-in-c": Fault(
        'def parse():\n    re.match("(a+)+b", "a" * 23)\ndef job():\n    parse()\n',
        "computing",
        "parse",
        ("asyncio-task", "asyncio-callback", "twisted", "qt", "tkinter", "kivy"),
    ),
    "sorts": Fault(
        "def order():\n    sorted(range(1_500_000), key=lambda each: -each % 7)\n"
        "def job():\n    order()\n",
        "computing",
        "order",
        ("asyncio-callback", "trio", "pyglet"),
    ),
    "sleeps": Fault(
        "def fetch():\n    time.sleep(0.25)\ndef job():\n    fetch()\n",
        "blocking-call",
        "fetch",
        _ALL,
    ),
    "locks": Fault(
        """
lock = threading.Lock()
def hold():
    with lock:
        threading.Event().wait(0.25)
def guard():
    with lock:
        pass
def job():
    threading.Thread(target=hold, daemon=True).start()
    while not lock.locked():
        pass
    guard()
""",
        "blocking-call",
        "guard",
        ("asyncio-task", "twisted"),
    ),
    "reads-socket": Fault(
        """
def ask():
    ours, theirs = socket.socketpair()
    threading.Timer(0.25, theirs.send, [b"x"]).start()
    ours.recv(1)
def job():
    ask()
""",
        "blocking-call",
        "ask",
        ("asyncio-task", "qt"),
    ),
    "runs-process": Fault(
        'def convert():\n    subprocess.run(["sleep", "0.25"])\ndef job():\n    convert()\n',
        "blocking-call",
        "convert",
        ("asyncio-callback", "trio"),
    ),
    "reads-pipe": Fault(
        """
def drain():
    reads, writes = os.pipe()
    threading.Timer(0.25, os.write, [writes, b"x"]).start()
    os.read(reads, 1)
def job():
    drain()
""",
        "blocking-call",
        "drain",
        ("uvloop", "pygame", "tkinter"),
    ),
    "collects": Fault(
        "gc.disable()\nkept = [[number] for number in range(2_500_000)]\n"
        "def sweep():\n    gc.collect()\ndef job():\n    sweep()\n",
        "garbage-collection",
        "sweep",
        ("asyncio-task", "twisted", "qt"),
    ),
    "thread-in-c": Fault(
        """
def hog():
    re.match("(a+)+b", "a" * 23)
def job():
    threading.Thread(target=hog, name="hogger", daemon=True).start()
""",
        "gil",
        "hog",
        ("asyncio-task", "asyncio-callback", "twisted", "trio"),
    ),
    "worker-in-c": Fault(
        """
jobs = queue.Queue()
def hog(text):
    for _ in range(2):
        re.match("(a+)+b", text)
def serve():
    while True:
        hog(jobs.get())
threading.Thread(target=serve, name="worker", daemon=True).start()
def job():
    jobs.put("a" * 22)
""",
        "gil",
        "hog",
        ("asyncio-task", "qt", "uvloop", "twisted"),
    ),
    "threads-compute": Fault(
        """
starts = threading.Semaphore(0)
def spin():
    while True:
        starts.acquire()
        crunch(0.3)
for _ in range(4):
    threading.Thread(target=spin, name="spinner", daemon=True).start()
def job():
    starts.release(4)
    crunch(0.05)
""",
        "gil",
        "spin crunch",
        ("asyncio-task", "twisted"),
    ),
    "starves": Fault(
        """
children = []
def job():
    os.nice(15)
    busy = "import os, time\\nos.nice(0)\\nend = time.time() + 0.5\\nwhile time.time() < end: pass"
    for _ in range(3 * os.cpu_count()):
        if os.fork() == 0:
            end = time.time() + 0.6
            while time.time() < end:
                pass
            os._exit(0)
    crunch(0.05)
""",
        "processor",
        "",
        ("asyncio-task", "twisted"),
        ("computing",),
    ),
    "stops": Fault(
        """
def job():
    me = os.getpid()
    script = f"sleep 0.1; kill -STOP {me}; sleep 0.3; kill -CONT {me}"
    subprocess.Popen(["sh", "-c", script])
""",
        "stopped",
        "",
        ("asyncio-task", "trio", "twisted"),
    ),
    "many-calls": Fault(
        """
import asyncio
def handle():
    crunch(0.0003)
def job():
    for _ in range(800):
        asyncio.get_running_loop().call_soon(handle)
""",
        "many-short",
        "",
        ("asyncio-task", "asyncio-callback"),
    ),
    "many-timers": Fault(
        """
def handle():
    crunch(0.0003)
def job():
    from twisted.internet import reactor
    for _ in range(800):
        reactor.callLater(0, handle)
""",
        "many-short",
        "",
        ("twisted",),
    ),
    "mixes": Fault(
        "def load():\n    time.sleep(0.1)\ndef job():\n    crunch(0.25)\n    load()\n",
        "computing",
        "crunch load",
        ("asyncio-task", "qt", "trio", "twisted"),
        ("blocking-call",),
    ),
    "waits-longer": Fault(
        "def load():\n    time.sleep(0.25)\ndef job():\n    crunch(0.08)\n    load()\n",
        "blocking-call",
        "crunch load",
        ("asyncio-task", "qt", "uvloop"),
        ("computing",),
    ),
    "is-healthy": Fault("def job():\n    pass\n", "", "", _ALL),
    "works-a-little": Fault("def job():\n    crunch(0.004)\n", "", "", _ALL),
}

#: What is called there is a part of a frame, too.
_CALLED_IN_FRAMES = {"pyglet", "kivy", "panda3d"}
_COMPUTING = {
    "asyncio-task": "task-step",
    "uvloop": "task-step",
    "trio": "task-step",
    "pygame": "frame-function",
}


@dataclass(frozen=True)
class LateProgram:
    """A program with what is true of it.

    Attributes:
        name: What goes wrong, and in which library.
        code: The program.
        causes: What its late calls are due to; empty if none is late.
        culprits: The functions that may be blamed, none if nobody can be.
        runtime: What runs it: ``python``, ``node`` or ``page``.
    """

    name: str
    code: str
    causes: tuple[str, ...]
    culprits: tuple[str, ...]
    runtime: str = "python"


def programs() -> list[LateProgram]:
    """Return all programs."""
    found = []
    for fault_name, fault in FAULTS.items():
        for library in fault.libraries:
            computing = _COMPUTING.get(library, "callback")
            causes = [
                computing if cause == "computing" else cause
                for cause in (fault.cause, *fault.others)
                if cause
            ]
            if library in _CALLED_IN_FRAMES and "callback" in causes:
                causes.append("frame-function")
            culprits = fault.culprit.split()
            code = f"{_HEAD}{fault.code}{LIBRARIES[library]}"
            found.append(
                LateProgram(f"{fault_name}/{library}", code, tuple(causes), tuple(culprits))
            )
    for library, (loop, *works) in SCHEDULES.items():
        for name, cause, work in zip(
            ("drifts", "awaits"), ("drift", "awaiting"), works, strict=True
        ):
            if work:
                code = f"{_HEAD}{loop.replace('WORK', work)}"
                found.append(LateProgram(f"{name}/{library}", code, (cause,), ()))
    return found + [
        _scripted(name, way) for name, (_, _, _, ways) in scripts.FAULTS.items() for way in ways
    ]


def _scripted(name: str, way: str) -> LateProgram:
    _, cause, culprit, _ = scripts.FAULTS[name]
    if cause == "computing":
        cause = "frame-function" if way == "page-frames" else "callback"
        culprit = scripts.CALLED.get(way, culprit)
    runtime, _, _ = way.partition("-")
    code = scripts.script(name, way)
    causes = (cause,) if cause else ()
    return LateProgram(f"{name}/{way}", code, causes, tuple(culprit.split()), runtime)
