"""Reusable pieces of the screens; none knows the desk's state or another widget."""
