"""The halt: its steps and acknowledgements, and selling all positions under it."""
