"""What the operator sees and presses. Textual and Rich live here and nowhere else.

Knows the desk: its state, its commands. Must not know wire, client, storage, clock or config.
Used by wiring, which hands it a desk.
"""
