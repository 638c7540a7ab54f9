"""The simulated chain as a node answers for it, and which signed things it passes on."""
