"""Fixtures and hooks that all tests share."""

from __future__ import annotations

pytest_plugins = ["markers.testing", "witnesses", "databases"]
