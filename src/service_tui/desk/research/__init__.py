"""Experiments and sessions on this desk."""
