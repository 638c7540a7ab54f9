"""Screen 1: positions, equity and open orders."""
