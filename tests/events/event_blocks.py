"""Events as columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from inspector.events.blocks.packed_columns import EVENT_COLUMNS, Block, fill_block
from inspector.vocabulary import RawEvent


def block_of(events: Sequence[RawEvent]) -> Block:
    """Return events as columns; values beyond 64 bits are clipped."""
    block = np.empty((EVENT_COLUMNS, len(events)), np.int64)
    fill_block(block, list(chain.from_iterable(events)), 0)
    return block
