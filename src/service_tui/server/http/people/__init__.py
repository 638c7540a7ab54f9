"""The people who operate a world, and invitations for agents."""
