"""Bookmarks, notes and named ranges."""
