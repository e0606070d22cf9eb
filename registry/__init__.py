"""The session-memory contract as data: one row, family or schema a file."""
