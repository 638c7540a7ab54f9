"""One file a screen; none knows another."""
