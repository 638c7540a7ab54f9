"""Signing: what is signed, and by whom; the private key never leaves this room.

Imports of those libraries stand inside functions: nothing that draws a screen pays for them.
"""
