"""Agents of the venue: what they may, what they hold back, and their halt."""
