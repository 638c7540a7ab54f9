"""Commands of the operator, one file a noun. Frozen values."""
