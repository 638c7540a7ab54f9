"""The tape: markets, beliefs, news and the crowd, the same for the same seed."""
