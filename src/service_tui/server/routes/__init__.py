"""Handlers of the endpoints, one file a noun."""
