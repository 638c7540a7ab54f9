"""ServiceClient: the blocking face of the service, for skills and scripts."""
