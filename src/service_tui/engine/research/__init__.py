"""Experiments that agents post, and backtests of their trades."""
