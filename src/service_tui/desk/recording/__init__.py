"""Records the states that the screens show, and plays them back."""
