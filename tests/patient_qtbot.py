"""The ``qtbot`` of the tests: it gives up only where something is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytestqt.qtbot import QtBot
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from PySide6.QtCore import SignalInstance
    from PySide6.QtWidgets import QWidget
    from pytestqt.wait_signal import SignalBlocker

#: Property of a window that the next test uses again.
OUTLIVES_TESTS: Final = "outlives_tests"
_PATIENCE_MS: Final = 60_000


class PatientQtBot(QtBot):
    """Waits for a minute, not five seconds, as a busy machine may need.

    The plugin lets events in once more after a test has returned. What the test had made is
    garbage by then, and collecting a widget in its own painting crashes: so widgets are kept.

    Attributes:
        kept: The widgets of the test.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        super().__init__(request)
        self.kept: list[QWidget] = []

    @override
    def addWidget(
        self, widget: QWidget, *, before_close_func: Callable[[Any], None] | None = None
    ) -> None:
        self.kept.append(widget)
        super().addWidget(widget, before_close_func=before_close_func)

    @override
    def waitUntil(
        self, callback: Callable[[], bool | None], *, timeout: int = _PATIENCE_MS
    ) -> None:
        """Wait until a function finds something."""
        super().waitUntil(callback, timeout=timeout)

    @override
    def waitSignal(
        self,
        signal: SignalInstance,
        *,
        timeout: int = _PATIENCE_MS,
        raising: bool | None = None,
        check_params_cb: Callable[..., bool] | None = None,
    ) -> SignalBlocker:
        """Wait until a signal is emitted."""
        return super().waitSignal(
            signal, timeout=timeout, raising=raising, check_params_cb=check_params_cb
        )
