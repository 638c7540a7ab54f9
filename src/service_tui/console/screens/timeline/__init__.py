"""Everything that happened, newest first, whatever it is about."""
