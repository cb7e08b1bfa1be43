"""What was changed in a vault, and what is needed to take it back: kept outside the vault."""
