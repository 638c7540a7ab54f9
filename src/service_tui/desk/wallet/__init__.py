"""The wallet of this desk: its key, its approvals, and its payments."""
