"""Positions: their views, and figures computed from them."""
