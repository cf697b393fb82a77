"""Bridges to libraries whose users write agents: each has a loop and messages of its own."""
