"""The stream of events: who listens, what each event shows, and how it is sent."""
