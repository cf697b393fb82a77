"""The HTTP clients whose requests are intercepted: one chapter for each client."""
