"""The operator's service layer: one state, one stream of changes, one way to order something."""
