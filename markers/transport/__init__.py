"""Speaking to GitHub: the interface, the pure reading of answers, and what sends the requests."""
