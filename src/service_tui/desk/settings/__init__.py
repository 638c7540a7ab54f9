"""Settings of the service and of this desk, its limits among them."""
