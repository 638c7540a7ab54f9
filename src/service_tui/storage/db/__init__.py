"""The SQLite file of a data directory: opened with care, written by one thread."""
