"""Persistent data: the sim's journal, the desk's blotter, the last answers.

Stores keys, text, numbers and times, and knows no other room. Nothing is imported here, so that
`storage.cached_state` can be read before the first paint without waiting for the rest.
"""
