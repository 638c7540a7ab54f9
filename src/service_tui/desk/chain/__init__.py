"""What goes to a chain, step by step, each step written down before it is taken."""
