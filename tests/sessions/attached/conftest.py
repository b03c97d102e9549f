"""What tests of attached sessions begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sessions.attached.fake_probe import Attachment


@pytest.fixture
def attachment() -> Iterator[Attachment]:
    """A session without a program yet."""
    found = Attachment()
    yield found
    found.close()
