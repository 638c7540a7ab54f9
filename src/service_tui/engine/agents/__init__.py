"""Agents of the venue: their settings, limits, pending trades and halt."""
