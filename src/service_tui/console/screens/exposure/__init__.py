"""What all agents hold: what it can come to, when it resolves, and each part of it."""
