"""Screen 0: what needs the person now."""
