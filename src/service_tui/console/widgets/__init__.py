"""Reusable pieces of the screens, independent of the desk's state and of each other."""
