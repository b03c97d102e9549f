"""A scene's picture of itself: plain shapes, and the pictures of its newest frames.

A scene describes its picture with ``stage.picture(draw)``; ``draw`` returns shapes of
:mod:`inspector.pictures.shapes`. A shape may belong to a clock and to a timer, so that the window
can show which of them stand still, and find them under the pointer.
"""
