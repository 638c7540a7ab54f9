"""ServiceClient: the synchronous client of the service, for skills and scripts."""
