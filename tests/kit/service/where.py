"""Where the worlds of a run's stages lie."""

ON_POSTGRES = "SERVICE_TUI_TESTS_ON_POSTGRES"
"""The stages of a run with this variable have their worlds in PostgreSQL, not in SQLite."""
