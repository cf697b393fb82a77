"""The strict local server: judges with the rules, plays the script."""
