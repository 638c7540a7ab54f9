"""Webhooks: what is reported to an agent's own program, where, and how often."""
