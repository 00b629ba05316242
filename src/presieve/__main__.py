# SPDX-License-Identifier: Apache-2.0
"""Untrusted. ``python -m presieve`` is the command ``presieve``."""

import sys

from presieve.cli import main

if __name__ == "__main__":
    sys.exit(main())
