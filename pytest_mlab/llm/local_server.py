"""The process behind ``--mlab-llm=local``; `pytest_mlab.llm.local` starts it."""

import fcntl
import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from filelock import FileLock, Timeout

from pytest_mlab.llm.local import require

NAME = "SmolLM2-135M-Instruct"
CONTEXT = 8192  # tokens, as the model was trained
SLOTS = 2  # requests answered at once; 190 MB of memory each
WATCH_SECONDS = 0.5


def main(folder: Path) -> None:
    """Serve until nobody holds the lease any more."""
    xllamacpp = import_module("xllamacpp")  # it has no types
    template = Path(__file__).with_name("local_template.jinja").read_text(encoding="utf-8")
    params = xllamacpp.CommonParams()
    params.model.path = str(require())
    params.model_alias = {NAME}
    params.chat_template = template
    params.n_parallel = SLOTS
    params.n_ctx = CONTEXT * SLOTS
    params.cache_ram_mib = 0
    params.ui = False
    # The threads of one request wait for each other spinning. With as many as there are cores,
    # any other process on the machine slows them down tenfold.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, cores() // 2)
    server = xllamacpp.Server(params)

    note = folder / "server.json"
    draft = note.with_suffix(".draft")
    draft.write_text(json.dumps({"address": server.listening_address, "pid": os.getpid()}))
    draft.replace(note)
    while not is_deserted(folder):
        time.sleep(WATCH_SECONDS)
    # Nothing is left to be saved, and the threads of the server take their time to end.
    os._exit(0)


def is_deserted(folder: Path) -> bool:
    """Say whether nobody uses the server, and if so, take its address away from newcomers."""
    try:
        with FileLock(folder / "lock", timeout=0), (folder / "lease").open("wb") as lease:
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (folder / "server.json").unlink(missing_ok=True)
            return True
    except (Timeout, BlockingIOError):
        return False


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
