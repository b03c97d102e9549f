"""What tests of adapters share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.probe.adapters.libraries import display


@pytest.fixture(scope="session")
def display_number() -> Iterator[str]:
    """Have one display for the programs of all tests."""
    with display() as number:
        yield number
