"""Keep the starter's code where no agent can change it: submissions are timed against it."""

import shutil
from pathlib import Path


def build(raw: Path, public: Path, private: Path) -> None:
    """Copy the code; there are no data, as scoring draws prompts anew each time."""
    shutil.copyfile(Path("workspace") / "generation.py", private / "generation.py")
