"""The offline world: its clock, its speed, and the summary of an absence."""
