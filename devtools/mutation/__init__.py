"""Changes the code on purpose, and lists the changes that no test notices."""
