"""Transactions on a chain: each step is stored before it is taken."""
