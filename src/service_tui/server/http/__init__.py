"""What HTTP needs and no noun owns: who asks, how often, what a no looks like, one send once."""
