"""One file a verb of the command line: what it does, and the lines that it prints."""
