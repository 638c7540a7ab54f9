"""A damaged database: what can be had of it, and what takes its place."""
