"""The ways in. A door moves bytes and decides nothing."""
