"""Drills: scenarios as data, a world of their own, the person's result against the best course."""
