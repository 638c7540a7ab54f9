"""Trades of agents that wait for the person's approval."""
