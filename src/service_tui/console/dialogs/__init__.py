"""One question a file; each returns a command or None."""
