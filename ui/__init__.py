"""The window. Inside this package every import of it is relative.

It is loaded by ``inspector.window_loader.load_ui`` under a private name, because a
user's program may have a package called ``ui`` of its own.
"""
