"""The domain: what a vault is and what may be asked of one. No I/O."""
