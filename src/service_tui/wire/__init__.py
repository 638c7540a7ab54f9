"""The protocol that client and server share: bodies and endpoints, no behaviour."""
