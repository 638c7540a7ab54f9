"""Screen 9: the person's orders and their results."""
