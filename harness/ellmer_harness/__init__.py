"""Records and replays HTTP in tests: readable cassettes, no secrets in them, streams included."""
