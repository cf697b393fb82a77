"""The scripted cases: what the model says, and what the client must do."""
