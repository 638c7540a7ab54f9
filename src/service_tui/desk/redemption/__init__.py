"""Redemptions: which begin, and each on its way."""
