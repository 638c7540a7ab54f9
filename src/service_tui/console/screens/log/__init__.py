"""The action log."""
