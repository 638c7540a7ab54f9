"""What holdings and results amount to: figures of values, without I/O. Both towers count by it."""
