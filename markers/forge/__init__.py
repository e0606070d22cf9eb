"""An embedded GitHub-compatible server for issues, pull requests and their comments.

It stands in for GitHub in tests, in the demo and on a newcomer's machine: the same answers,
headers, limits and error texts as far as they are known, on SQLite, with switches for everything
that goes wrong between a client and GitHub.  It knows nothing of markers.

``app.Forge`` answers requests without a socket; ``server.serve`` puts it on loopback.
"""

from __future__ import annotations

from .app import Forge
from .server import ForgeServer, serve

__all__ = ["Forge", "ForgeServer", "serve"]
