"""The LMSR market maker: markets, orders that meet it, and the ledger."""
