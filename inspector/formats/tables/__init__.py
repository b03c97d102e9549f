"""Frame times as columns, which programs read: CSV, JSON, Parquet, and columns of other tools."""
