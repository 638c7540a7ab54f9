"""Notifications to programs: price alerts and webhooks."""
