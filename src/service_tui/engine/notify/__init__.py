"""What tells a program that something happened: price alerts and webhooks."""
