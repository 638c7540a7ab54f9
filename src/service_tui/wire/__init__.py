"""One protocol, shared by client and server: what is said, and nothing about how or why."""
