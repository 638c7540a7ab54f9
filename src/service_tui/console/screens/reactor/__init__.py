"""Screen 4: followed wallets and their signals."""
