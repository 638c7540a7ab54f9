"""What positions came to, venue by venue and skill by skill."""
