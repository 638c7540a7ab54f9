"""What the desk makes of markets."""
