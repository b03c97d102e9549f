"""What all tests of models need."""

from __future__ import annotations

import pytest

from tests.ui.world import World


@pytest.fixture
def world() -> World:
    return World()
