"""Figures of positions and results, computed from values without I/O, for desk and service."""
