"""Which commit a folder is at."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def commit_of(folder: Path) -> str | None:
    """The git commit that is checked out in `folder`; None where there is none, or no git."""
    git = shutil.which("git")
    if git is None:
        return None
    try:
        answer = subprocess.run(  # noqa: S603 nothing of a user's is in the command
            [git, "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None
