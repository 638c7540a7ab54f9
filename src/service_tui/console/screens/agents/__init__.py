"""Screen 7: agents, their leashes, skills and results."""
