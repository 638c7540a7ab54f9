"""Addresses of the operator's own programs, which the service notifies."""
