"""Exposure of all agents: possible results, resolution times, and each position."""
