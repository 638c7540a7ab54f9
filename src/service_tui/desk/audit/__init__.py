"""Audit: the action log, reports, exports and the history of a trade."""
