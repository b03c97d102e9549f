"""The systems whose recordings can be replayed, one line each."""

from __future__ import annotations

from typing import Final

from tests.conformance.fsm import replay_fsm
from tests.conformance.openflash_clock import replay_fixed
from tests.conformance.replay import System

#: Where we differ on purpose stands in the last field: line id to reason.
SYSTEMS: Final = (
    System("openflash_clock", "fixed", replay_fixed, {}),
    System("fsm", None, replay_fsm, {}),
)
