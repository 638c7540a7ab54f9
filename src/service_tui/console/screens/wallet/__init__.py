"""The panel of the wallet."""
