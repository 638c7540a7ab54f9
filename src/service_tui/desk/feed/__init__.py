"""Reads the service: pollers, and the consumer of its event stream."""
