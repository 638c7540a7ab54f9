"""Monitors on what is held, and the alerts that they raise."""
