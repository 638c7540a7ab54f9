"""Forms and dialogs that several screens open."""
