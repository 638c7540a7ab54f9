"""What the journal tells of agents: fills, orders and payouts, and what came of them."""
