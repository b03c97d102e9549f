"""The panel with the picture that a scene draws of itself."""
