"""The event stream: its listeners, the content of each event, and sending."""
