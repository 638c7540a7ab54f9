"""The heartbeat, and what the desk makes of it."""
