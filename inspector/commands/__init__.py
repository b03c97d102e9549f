"""What a session can be told to do: a class for each command, a file for each family of them.

A command never changes a display. It is submitted, applied by the session at a frame
boundary (at once while the scene is held), recorded as an event together with its refusal,
if any, and shown when that event comes back.
"""

from inspector.commands import (
    breakpoints as breakpoints,
)
from inspector.commands import (
    clocks as clocks,
)
from inspector.commands import (
    members as members,
)
from inspector.commands import (
    recording as recording,
)
from inspector.commands import (
    scene as scene,
)
from inspector.commands import (
    timers as timers,
)
from inspector.commands import (
    transport as transport,
)
from inspector.commands import (
    undoing as undoing,
)
