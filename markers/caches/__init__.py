"""The local stores of agents: one engine, and a module for each store's own form and rules."""
