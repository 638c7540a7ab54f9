"""The table of endpoints, one file a noun."""
