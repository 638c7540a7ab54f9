"""Monitors and price alerts on this desk, and the exits that alerts ask for."""
