"""Libraries that are not what an adapter expects: it says so, and changes nothing."""

from __future__ import annotations

import sys
import time
from types import ModuleType

import pytest

from inspector.probe import program as probed
from inspector.probe.adapters import ADAPTERS, UNSEEN, AdapterEntry
from inspector.probe.program import Program

ENTRIES = [entry for entry in ADAPTERS if entry.name not in {"asyncio", "python_time"}]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_that_an_unknown_library_is_told_and_left_alone(
    entry: AdapterEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = entry.modules[0]
    module = ModuleType(name)
    for part in {name, name.partition(".")[0]}:
        monkeypatch.setitem(sys.modules, part, module)
    program = Program("test")
    attributes = dict(vars(module))

    program._install(entry, module)

    adapter = program.adapters[entry.name]
    assert adapter.state == "failed"
    assert "Error" in adapter.message
    assert f"({entry.place.lstrip('.')}.py:" in adapter.message
    assert vars(module) == attributes
    assert [clock.name for clock in program.clocks.by_number.values()] == ["test"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_that_no_adapter_takes_local_time_for_real_time(entry: AdapterEntry) -> None:
    adapter = entry.load(Program("test"))
    names = vars(sys.modules[type(adapter).__module__])

    # An adapter is imported when the functions of time may have been replaced.
    assert not {value.__name__ for value in vars(time).values() if callable(value)} & set(names)


@pytest.mark.parametrize(("name", "library", "missing"), UNSEEN)
def test_that_a_library_without_an_adapter_is_told_once_it_is_loaded(
    name: str, library: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    # Nothing else is watched, or the adapters of what is loaded would stay in this process.
    monkeypatch.setattr(probed, "ADAPTERS", ())
    monkeypatch.setattr(probed, "UNSEEN", ((name, library, missing),))
    program = Program("test")

    program.watch_imports()

    states = {each["library"]: each for each in program.described_adapters()}
    assert (states[library]["state"], states[library]["message"]) == ("failed", missing)
