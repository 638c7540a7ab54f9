"""Redemptions: starting them, and running each to its end."""
