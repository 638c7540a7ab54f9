"""The files that sessions of autoresearch write: results of a repository, and what runs where."""
