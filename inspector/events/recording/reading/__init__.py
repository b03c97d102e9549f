"""Opening recordings, including damaged ones."""
