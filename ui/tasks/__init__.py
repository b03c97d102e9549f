"""Tasks of asyncio, uvloop and trio: which wait for which, and for what."""
