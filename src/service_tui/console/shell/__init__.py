"""The frame around the screens: keys for every screen, palette, the end."""
