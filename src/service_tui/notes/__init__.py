"""The files that sessions of autoresearch write: results of a repository, and what runs where.

Knows formats and the rules of a session. Must not know git, the service or a screen.
Used by autoresearch (which writes) and by the desk (which reads).
"""
