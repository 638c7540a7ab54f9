"""What the desk makes of the offline world."""
