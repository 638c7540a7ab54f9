"""A world in PostgreSQL: the same tables as in SQLite, one leader that writes, and its epoch."""
