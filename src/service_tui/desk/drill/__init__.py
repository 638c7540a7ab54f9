"""A drill at the desk: its clock starts and stops by commands."""
