"""Painting that several plots share."""
