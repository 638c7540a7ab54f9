"""The simulated chain as a node: its answers, and the signed transactions that it relays."""
