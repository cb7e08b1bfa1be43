"""Scripted agents that do a person's tasks through a server, and make a model's mistakes: `make agents`."""
