"""Errors of a stored row or snapshot, importable without the modules that read them."""


class JournalError(ValueError):
    """A row of the journal that this program cannot read."""


class NewerJournalError(JournalError):
    """A row or a snapshot that a newer program has written: nothing is wrong with it."""
