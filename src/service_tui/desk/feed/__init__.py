"""What the desk reads of the service: by asking again and again, and by listening."""
