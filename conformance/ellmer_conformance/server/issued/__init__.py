"""What the server issued and must get back unchanged: signatures of thoughts, and the beginnings of reasoning items."""
