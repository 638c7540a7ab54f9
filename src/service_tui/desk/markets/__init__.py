"""Markets: their views, and figures computed from them."""
