"""Running a scene without a window, in virtual or real time."""
