"""The programs that start this server, and their configuration files."""
