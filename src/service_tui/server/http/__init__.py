"""HTTP beside the nouns: access, rates, refusals, idempotency."""
