"""Positions, stops and open orders of all agents."""
