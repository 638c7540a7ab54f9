"""Results of positions, by venue and by skill."""
