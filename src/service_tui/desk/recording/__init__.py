"""What the screens knew, recorded, and read back as the desk was then."""
