"""What the desk makes of its own agent's account."""
