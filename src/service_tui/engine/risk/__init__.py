"""Monitors on positions, and the alerts that they raise."""
