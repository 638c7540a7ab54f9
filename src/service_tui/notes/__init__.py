"""Files that autoresearch sessions write: results of a repository, and running sessions."""
