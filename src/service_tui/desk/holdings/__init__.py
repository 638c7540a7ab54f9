"""What all agents hold."""
