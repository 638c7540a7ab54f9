"""Screen 8: settings and limits."""
