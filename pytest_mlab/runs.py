"""The folder of records: one folder a session, in it one folder a trial.

.mlab/20261121-093000-5f2a/                  a session
    plan.json                                which trials it was going to run
    results.json                             what came of them all, written at the end
    workers/gw0.json                         what a worker is at, as long as the session runs
    digits-hillclimb-trial1-0c9a3e/          a trial
        identity.json                        which trial this is, written before it starts
        workspace/                           the agent's files, as it left them
        private/                             decoys, while the trial runs
        outputs/0001.txt                     what each process printed, whole
        history.git/                         the workspace after each step, a commit each
        trace.jsonl                          what happened, as it happened
        llm.jsonl                            what language models were asked and answered
        scores.jsonl                         what each step's submission scored, if asked for
        research_log.txt                     the Research Log, where the agent keeps one
        result.json                          what came of it
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_mlab.exceptions import InfraError
from pytest_mlab.files import write_atomically
from pytest_mlab.planning import Need, Planned
from pytest_mlab.resources import Demand
from pytest_mlab.results import Identity, Result

PLAN = "plan.json"
RESULTS = "results.json"
IDENTITY = "identity.json"
RESULT = "result.json"
TRACE = "trace.jsonl"
WORKSPACE = "workspace"
OUTPUTS = "outputs"
HISTORY = "history.git"
RESEARCH_LOG = "research_log.txt"


def trial_folder(session: Path, nodeid: str) -> Path:
    """Give the folder of a test item: readable by its parameters, unique by a digest of its id."""
    readable = nodeid.partition("[")[2].removesuffix("]") or nodeid
    slug = re.sub(r"[^A-Za-z0-9._+-]+", "_", readable)[:120]
    return session / f"{slug}-{hashlib.sha256(nodeid.encode()).hexdigest()[:6]}"


def open_folder(session: Path, identity: Identity) -> Path:
    """Make a trial's folder and write down whose it is; a rerun gets a folder beside the first."""
    first = folder = trial_folder(session, identity.nodeid)
    number = 1
    while (folder / IDENTITY).exists():
        number += 1
        folder = first.with_name(f"{first.name}.{number}")
    write_atomically(folder / IDENTITY, json.dumps(dataclasses.asdict(identity)) + "\n")
    return folder


def write_plan(
    session: Path, identities: Iterable[Identity], needs: Mapping[str, Need] | None = None
) -> None:
    """Write down which trials a session is going to run, before the first of them starts.

    ``needs`` are what is known of them beforehand, by their test ids. A folder of records that is
    made now is one that git ignores; one of the user's own is not.
    """
    if not session.parent.exists():
        write_atomically(session.parent / ".gitignore", "# Records of pytest-mlab.\n*\n")
    known = needs or {}
    plan = [
        dataclasses.asdict(identity)
        | {"need": dataclasses.asdict(known.get(identity.nodeid, Need()))}
        for identity in identities
    ]
    write_atomically(session / PLAN, json.dumps(plan, indent=1) + "\n")


def read_planned(session: Path) -> dict[str, Planned]:
    """Give the planned trials of a session by their test ids; none where it planned none."""
    file = session / PLAN
    if not file.exists():
        return {}
    planned = {}
    for record in json.loads(file.read_text(encoding="utf-8")):
        need = record.pop("need", {})
        demand = Demand(**need.pop("demand", {}))
        planned[record["nodeid"]] = Planned(Identity(**record), Need(**need, demand=demand))
    return planned


def read_plan(session: Path) -> dict[str, Identity]:
    """Give the identities of a session's planned trials by their test ids."""
    return {nodeid: planned.identity for nodeid, planned in read_planned(session).items()}


def record_result(folder: Path, result: Result) -> None:
    """Write a trial's result, whole or not at all; `InfraError` where it cannot be written."""
    try:
        write_atomically(folder / RESULT, result.to_json() + "\n")
    except OSError as error:
        raise InfraError(
            f"{folder / RESULT}: cannot be written: {error.strerror}; make room there or name "
            "another folder with --mlab-results"
        ) from error
