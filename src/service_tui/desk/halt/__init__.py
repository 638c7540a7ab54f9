"""The halt: who has to know, who knows, and selling everything under it."""
