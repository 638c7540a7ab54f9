"""Order books of the simulated venues, and the orders on them."""
