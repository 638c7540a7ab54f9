"""Events and the world as JSON and back, one file a noun."""
