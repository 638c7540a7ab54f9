"""Where the worlds of a run's stages lie, and what they run on."""

ON_POSTGRES = "SERVICE_TUI_TESTS_ON_POSTGRES"
"""The stages of a run with this variable have their worlds in PostgreSQL, not in SQLite."""

ON_HISTORY = "SERVICE_TUI_TESTS_ON_HISTORY"
"""The worlds of a run with this variable run on a history, not on invented questions."""
