"""Run cases: with an adapter, at a real API, at a server, with hostile answers, and one of them again."""
