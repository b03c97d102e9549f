"""JavaScript programs whose calls are late for a known reason, for Node and for pages.

Each runs `job` twice while `tick` is due every 30 ms, for 1.9 seconds; a page then asks for `done`.
"""

from __future__ import annotations

from typing import Final

_HEAD: Final = """\
const usedMs = typeof process === "object"
  ? () => process.cpuUsage().user / 1000
  : () => performance.now();
function crunch(ms = 250) {
  const end = usedMs() + ms;
  let count = 0;
  while (usedMs() < end) count++;
  return count;
}
"""

#: What was seen is sent before the page ends.
_DONE: Final = """
function done() { setTimeout(() => fetch("done"), 200); }
"""

#: By the name of what calls ``job``: whether a page is needed, and the code.
WAYS: Final = {
    "node-timers": """
const ticking = setInterval(function tick() {}, 30);
setTimeout(function work() { job(); }, 500);
setTimeout(function work() { job(); }, 1200);
setTimeout(function stop() { clearInterval(ticking); process.exit(); }, 1900);
""",
    "node-async": """
const { setTimeout: sleep } = require("timers/promises");
const ticking = setInterval(function tick() {}, 30);
async function worker() {
  for (let turn = 0; turn < 2; turn++) {
    await sleep(500);
    job();
  }
}
worker();
setTimeout(function stop() { clearInterval(ticking); process.exit(); }, 1900);
""",
    "page-timers": """
setInterval(function tick() {}, 30);
setTimeout(function work() { job(); }, 500);
setTimeout(function work() { job(); }, 1200);
setTimeout(done, 1900);
""",
    # Called by the browser for other reasons, so that only its long animation frames tell who.
    "page-events": """
setInterval(function tick() {}, 30);
const { port1, port2 } = new MessageChannel();
port1.onmessage = function handle() { job(); };
setTimeout(function ask() { port2.postMessage(0); }, 500);
setTimeout(function ask() { port2.postMessage(0); }, 1200);
setTimeout(done, 1900);
""",
    "page-frames": """
setInterval(function tick() {}, 30);
let frame = 0;
function update() {
  if (++frame === 30 || frame === 70) job();
  if (frame === 110) done();
  requestAnimationFrame(update);
}
requestAnimationFrame(update);
""",
}
NODE: Final = ("node-timers", "node-async")
PAGES: Final = ("page-timers", "page-events", "page-frames")

#: What goes wrong: the code that defines ``job``, the cause, the functions to blame, where.
FAULTS: Final = {
    "computes": ("function job() { crunch(); }", "computing", "crunch", (*NODE, *PAGES)),
    "computes-in-c": (
        """
function parse() { /(a+)+b/.test("a".repeat(24)); }
function job() { parse(); }
""",
        "computing",
        "parse",
        (*NODE, "page-timers"),
    ),
    "sorts": (
        """
function order() {
  return Array.from({ length: 600000 }, (_, n) => (n * 7919) % 600011).sort((a, b) => a - b);
}
function job() { order(); }
""",
        "computing",
        "order",
        NODE,
    ),
    "sleeps": (
        """
function rest() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250); }
function job() { rest(); }
""",
        "blocking-call",
        "rest",
        NODE,
    ),
    "runs-process": (
        """
function convert() { require("child_process").execSync("sleep 0.25"); }
function job() { convert(); }
""",
        "blocking-call",
        "convert",
        NODE,
    ),
    "reads-pipe": (
        """
const { execSync, spawn } = require("child_process");
const fs = require("fs");
const pipe = `${require("os").tmpdir()}/late-${process.pid}`;
execSync(`mkfifo ${pipe}`);
process.on("exit", () => fs.unlinkSync(pipe));
function drain() {
  spawn("sh", ["-c", `sleep 0.25; echo x > ${pipe}`]);
  fs.readFileSync(pipe);
}
function job() { drain(); }
""",
        "blocking-call",
        "drain",
        NODE,
    ),
    "collects": (
        """
require("v8").setFlagsFromString("--expose-gc");
const gc = require("vm").runInNewContext("gc");
const kept = Array.from({ length: 2500000 }, (_, n) => [n]);
function sweep() { gc(); gc(); }
function job() { sweep(); kept.length; }
""",
        "garbage-collection",
        "",
        NODE,
    ),
    "mixes": (
        """
function load() { require("child_process").execSync("sleep 0.1"); }
function job() { crunch(250); load(); }
""",
        "computing",
        "crunch",
        NODE,
    ),
    "is-healthy": ("function job() {}", "", "", (*NODE, *PAGES)),
    "works-a-little": ("function job() { crunch(4); }", "", "", (*NODE, *PAGES)),
}
#: Of pages it is known what the browser called, not what that called.
CALLED: Final = {"page-timers": "work", "page-events": "handle", "page-frames": "update"}


def script(fault: str, way: str) -> str:
    """Return a program."""
    return f"{_HEAD}{_DONE if way in PAGES else ''}{FAULTS[fault][0]}{WAYS[way]}"
