"""``python -m markers`` is ``persist-marker``."""

from __future__ import annotations

import sys

from .cli import main

sys.exit(main())
