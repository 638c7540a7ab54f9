"""The simulated chain: blocks, transactions, and redemption."""
