"""Screen 5: winning positions on their way to cash."""
