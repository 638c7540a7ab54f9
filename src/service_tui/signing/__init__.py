"""Signing: what is signed, and by whom; the private key never leaves this room.

Knows eth-account and the addresses of the chain; no other room. Imports of those libraries stand
inside functions: nothing that draws a screen pays for them.
Used by sdk, desk and server, each with the part it needs.
"""
