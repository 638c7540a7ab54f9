"""The client: one call to the service, its answer or one plain error; httpx lives here."""
