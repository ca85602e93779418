"""Lets the test modules, which are imported by path, import the module beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
