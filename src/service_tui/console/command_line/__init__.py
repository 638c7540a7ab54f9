"""The `:` line: commands by name, with the verbs of the program's command line."""
