"""The command line: its parser and one function for each command."""
