"""The probe for JavaScript, alone: its own tests, run by Node."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from inspector.probe import kinds, wire
from tests.javascript import PROBE, node

_TESTS = sorted((Path(__file__).parent / "js").glob("*.test.js"))


def test_that_the_tests_of_the_javascript_probe_pass() -> None:
    # One process for all: Node takes longer to start than most files to run.
    code = "for (const path of process.argv.slice(1)) require(path)"
    done = subprocess.run(
        [node(), "-e", code, *_TESTS], capture_output=True, text=True, check=False, timeout=100
    )

    failed = re.findall(r"^not ok .*?^  \.\.\.$", done.stdout, re.DOTALL | re.MULTILINE)
    assert done.returncode == 0, "\n".join([*failed, done.stderr[-5_000:]])


def test_that_deno_is_not_disturbed_that_does_not_let_a_program_read_its_environment() -> None:
    deno = """
globalThis.Deno = { permissions: { querySync: ({ name }) => ({ state: "prompt" }) } };
const refuse = (env, name) => {
  if (String(name).startsWith("TIMELINE")) throw new Error("NotCapable");
  return env[name];
};
process.env = new Proxy(process.env, { get: refuse });
"""
    code = f"{deno}require({str(PROBE)!r}); console.log('runs');"
    env = {**os.environ, "TIMELINE_PROBE_CONNECT": "unix:/x", "TIMELINE_PROBE_TOKEN": "x"}
    done = subprocess.run(
        [node(), "-e", code], capture_output=True, text=True, check=False, env=env, timeout=100
    )

    assert (done.stdout, done.stderr) == ("runs\n", "")


def test_that_both_probes_have_the_same_numbers() -> None:
    """Every number that the JavaScript probe names as the Python probe does is the same."""
    text = PROBE.read_text(encoding="utf-8")
    declared = dict(re.findall(r"\b([A-Z][A-Z_]*) = (\d+)(?=[,;])", text))
    names = {
        "D": kinds.RATE_DENOMINATOR,
        "PROTOCOL": wire.PROTOCOL,
        "MAX_NESTING": wire.MAX_NESTING,
        "MAX_EVENTS": wire.MAX_EVENTS,
        "BATCH_MS": wire.BATCH_NS // 10**6,
        "BEAT_MS": wire.PING_NS // 10**6,
        "SILENCE_MS": wire.SILENCE_NS // 10**6,
        "HELLO_MS": wire.HELLO_NS // 10**6,
        "TYPE_JSON": wire.JSON,
        "TYPE_EVENTS": wire.EVENTS,
    }
    same = {**vars(wire), **vars(kinds)}
    for name, number in declared.items():
        expected = names.get(name, same.get(name))
        assert expected is None or int(number) == expected, name
    assert {"CLOCK_ADDED", "TIMER_FIRED", "FRAME_ENDED", "NOT_POSSIBLE"} <= set(declared)
    assert f"MAX_MESSAGE = 1 << {wire.MAX_FRAME_BYTES.bit_length() - 1}" in text
    assert f"MAX_TEXT = 1 << {wire.MAX_TEXT_BYTES.bit_length() - 1}" in text
    assert f"WINDOW_BYTES = {wire.WINDOW_BYTES >> 20} << 20" in text
