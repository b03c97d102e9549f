"""The browser that the tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.formats.page.browser_tab import Tab, started


@pytest.fixture(scope="session")
def browser() -> Iterator[Tab]:
    with started() as found:
        yield found
