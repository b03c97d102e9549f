"""The ways into a program: one file each, behind the protocol of :mod:`.door`."""
