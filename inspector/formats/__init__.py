"""Importers and exporters, one per file."""
