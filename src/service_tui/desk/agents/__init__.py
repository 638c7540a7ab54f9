"""Agents on this desk: governance, leashes and the skills that trade for them."""
