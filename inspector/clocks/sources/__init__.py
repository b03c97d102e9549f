"""Where real and virtual time comes from."""
