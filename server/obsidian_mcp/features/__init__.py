"""What is offered to a client, whichever server and door it comes by: tools, for now."""
