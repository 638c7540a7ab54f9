"""What the desk reads and makes of positions."""
