# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The command ``presieve`` as a file for ``spark-submit``, which recognizes a Python
file by its suffix. Without arguments it prints its own path.
"""

import sys

if __name__ == "__main__":
    if len(sys.argv) > 1:
        from presieve.cli import main

        sys.exit(main())
    print(__file__)
