"""Drills: scenarios as data, each in a separate world, scored against the best course."""
