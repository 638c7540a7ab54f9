"""Agents' history from the journal: fills, orders, payouts and their results."""
