"""Our own database: audit, intents, locks, pacing and small memories."""
