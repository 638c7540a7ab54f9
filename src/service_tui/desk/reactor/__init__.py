"""Signals on this desk: read, shown, mirrored, and kept."""
