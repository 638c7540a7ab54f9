"""The account of the desk's own agent: views and handlers."""
