"""The people who operate a world, and the invitations by which agents come to it."""
