"""The transport bar and the playhead bar."""
