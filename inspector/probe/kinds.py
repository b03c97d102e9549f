"""The numbers of events that a probe sends, as the inspector's vocabulary defines them.

A copy, because a probe imports nothing else of the inspector; a test compares the two.
"""

from __future__ import annotations

VOCABULARY_VERSION = 6

#: Rates are multiples of one over this.
RATE_DENOMINATOR = 720_720_000
#: Higher rates are taken for mistakes.
MAX_RATE = 1_000_000
#: The due time of something that will not happen.
NEVER = 2**63 - 1

CLOCK_ADDED = 1
CLOCK_ANCHORED = 2
CLOCK_RATE = 3
CLOCK_PAUSED = 4
CLOCK_RESUMED = 5
CLOCK_REMOVED = 7
TIMER_ADDED = 16
TIMER_ORIGIN = 17
TIMER_ARMED = 18
TIMER_FIRED = 19
TIMER_CLEARED = 20
TICKS_MISSED = 21
FRAME_BEGAN = 32
PHASE_ENDED = 33
FRAME_ENDED = 34
DELTA_CUT = 35
LOOP_ASKED = 42
CALLBACK_FAILED = 48
MARK = 49
TRANSPORT = 51
STACK_FRAME = 80
RUNNING_CALL = 81
OTHER_THREAD = 82
SAMPLE_TIMES = 83
SAMPLED = 84
COLLECTED = 85
PROCESS_STOPPED = 86

# The second number of RUNNING_CALL.
RUNS_CALLBACK = 0
RUNS_TASK = 1
RUNS_FRAME = 2

# Bits of the second number of SAMPLED.
SAW_AFTERWARDS = 1
SAW_WAIT = 2
SAW_NO_TIMES = 4
SAW_BETWEEN_TURNS = 8
SAW_END = 16
SAW_AFTER_GAP = 64

# The subject of TRANSPORT.
MODE_RUNNING = 1

# What a timer is: the second number of TIMER_ORIGIN.
TIMEOUT = 0
INTERVAL_BURST = 1
INTERVAL_DELAY = 2
INTERVAL_SKIP = 3

# The subject of PHASE_ENDED.
PHASE_TIMERS = 0
PHASE_BEFORE_UPDATE = 1
PHASE_START = 2
PHASE_UPDATE = 3
PHASE_LATE_UPDATE = 4
PHASE_AFTER_UPDATE = 5
PHASE_DRAW = 6
