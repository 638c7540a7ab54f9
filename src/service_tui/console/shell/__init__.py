"""What stands around the screens: frame, keys for every screen, palette, the end."""
