"""Screen 9: the person's orders and what became of them."""
