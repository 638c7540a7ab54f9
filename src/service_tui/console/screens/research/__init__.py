"""Screen 6: experiments and sessions."""
