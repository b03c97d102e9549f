"""Opening recordings, also damaged ones."""
