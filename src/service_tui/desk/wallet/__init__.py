"""The wallet of this desk: its key, its rights, and what it pays for."""
