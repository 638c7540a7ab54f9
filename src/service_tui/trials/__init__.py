"""Trials of skills: each runs a skill in a new world for a period and records the result."""
