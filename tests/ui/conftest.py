"""The bridge alone, and what it says."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication

from tests.ui.bridge_stand import Noted
from ui.session_bridge import (
    SessionBridge,
)


@pytest.fixture
def bridge(qapp: QCoreApplication) -> SessionBridge:
    assert qapp is not None
    return SessionBridge()


@pytest.fixture
def noted(bridge: SessionBridge) -> Noted:
    noted = Noted()
    noted.listen(bridge)
    return noted
