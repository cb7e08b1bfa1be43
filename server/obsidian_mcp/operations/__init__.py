"""What needs more than one question to the vault."""
