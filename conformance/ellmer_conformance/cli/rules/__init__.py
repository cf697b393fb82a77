"""Look up rules and facts: by an error text, by provider, by date."""
