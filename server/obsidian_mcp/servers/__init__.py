"""What answers a client: a table of methods each."""
