"""What a vault holds, remembered between calls and never believed unchecked."""
