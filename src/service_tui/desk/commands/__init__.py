"""What an operator may order, one file a noun. Frozen values."""
