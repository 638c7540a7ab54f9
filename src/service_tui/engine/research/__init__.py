"""Experiments that agents post, and backtests of what they traded."""
