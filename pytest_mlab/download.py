"""Downloads for a task's ``prepare.py``: resumed where they broke off, and whole or not there.

    from pytest_mlab.download import fetch, fetch_competition

    def download(raw):
        fetch("https://example.org/images.tar.gz", raw / "images.tar.gz", "md5:0123...")

Every function leaves alone what is there already, so that a file can also be put into ``raw`` by
hand; the message of what cannot be fetched names the place.
"""

import hashlib
import http.client
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from pytest_mlab.exceptions import InfraError, TaskError, Unavailable
from pytest_mlab.packages import require_packages

ATTEMPTS = 5
"""How often a download that breaks off is taken up again before it counts as failed."""

_BLOCK = 1 << 20
_SILENCE = 60.0
_KAGGLE = "https://www.kaggle.com"


def fetch(url: str, path: Path, checksum: str = "") -> None:
    """Fetch a file unless it is there, going on from what an earlier attempt has fetched.

    ``checksum`` is an algorithm of `hashlib` and its digest, such as "md5:c58f30…"; a file that was
    put there by hand has to have it too. Raises `Unavailable` where the server cannot be reached at
    all, and `InfraError` where it refuses or breaks off, or sends something else.
    """
    if path.exists():
        if not _matches(path, checksum):
            raise InfraError(f"{path}: is not the file that {url} had ({checksum}); delete it")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    for left in reversed(range(ATTEMPTS)):
        try:
            _fetch_rest(url, part, path, checksum)
            break
        except _BrokenOff as error:
            if not left:
                raise InfraError(
                    f"{url}: broke off {ATTEMPTS} times, last by: {error}; "
                    f"what is there is kept, so that another attempt goes on from it"
                ) from error
            time.sleep(0.2 * (ATTEMPTS - left))
    if not _matches(part, checksum):
        part.unlink()
        raise InfraError(f"{url}: sent something else than the file of {checksum}; try again")
    part.rename(path)


class _BrokenOff(Exception):
    """The connection ended before the file did."""


def _fetch_rest(url: str, part: Path, path: Path, checksum: str) -> None:
    # Without a checksum, nothing would tell whether both halves are of the same file.
    have = part.stat().st_size if checksum and part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "pytest-mlab"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        with urllib.request.urlopen(request, timeout=_SILENCE) as response:
            going_on = response.status == http.HTTPStatus.PARTIAL_CONTENT
            expected = response.length
            with part.open("ab" if going_on else "wb") as file:
                received = 0
                while block := response.read(_BLOCK):
                    file.write(block)
                    received += len(block)
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # all of it was there; the checksum will tell
        if error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _BrokenOff(f"HTTP {error.code} {error.reason}") from error
        raise InfraError(
            f"{url}: the server says {error.code} {error.reason}; if you can get the file "
            f"elsewhere, put it there as {path}"
        ) from error
    except urllib.error.URLError as error:
        if have:
            raise _BrokenOff(str(error.reason)) from error
        raise Unavailable(
            f"{url} cannot be reached from here ({error.reason}); run this once with a network, "
            f"or put the file there by hand as {path}"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise _BrokenOff(f"{type(error).__name__}: {error}") from error
    if expected is not None and received < expected:
        raise _BrokenOff(f"the connection was closed after {received} of {expected} bytes")


def _matches(path: Path, checksum: str) -> bool:
    if not checksum:
        return True
    algorithm, _, digest = checksum.partition(":")
    if algorithm not in hashlib.algorithms_available or not digest:
        raise TaskError(f'"{checksum}" is no checksum; write "sha256:" or "md5:" and the digest')
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest() == digest.lower()


def fetch_competition(name: str, raw: Path) -> Path:
    """Fetch all files of a Kaggle competition, as ``<name>.zip``, and give that file's path.

    Kaggle's own client does it, with the user's credentials. Raises `Unavailable`, saying which
    page and which command help, where there are none, where the competition's rules were not
    accepted or where Kaggle cannot be reached.
    """
    archive = raw / f"{name}.zip"
    by_hand = f"or put {archive.name}, downloaded from {_KAGGLE}/competitions/{name}/data, "
    by_hand += f"there by hand as {archive}"
    if not archive.exists():
        try:
            require_packages(["kaggle", "six"], f"Kaggle's competition {name}")
        except Unavailable as error:
            raise Unavailable(f"{error}; {by_hand}") from None
        unfinished = raw / "unfinished"
        _run_kaggle(name, unfinished, by_hand)
        (unfinished / archive.name).rename(archive)
    if not zipfile.is_zipfile(archive):
        raise InfraError(f"{archive}: is not a whole zip file; delete it")
    return archive


def _run_kaggle(name: str, folder: Path, by_hand: str) -> None:
    client = [sys.executable, "-c", "from kaggle.cli import main; main()"]
    run = subprocess.run(
        [*client, "competitions", "download", name, "-p", str(folder)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    if run.returncode == 0 and (folder / f"{name}.zip").exists():
        return
    said = f"{run.stdout}\n{run.stderr}".strip()
    last = said.rpartition("\n")[2]
    if "Authentication required" in said:
        raise Unavailable(
            f"Kaggle's competition {name} needs an account: make a token on "
            f"{_KAGGLE}/settings/api, then run: kaggle auth login (or set KAGGLE_API_TOKEN); "
            f"{by_hand}"
        )
    if "403" in last:
        raise Unavailable(
            f"Kaggle refuses the competition {name} as long as its rules are not accepted: do so "
            f"on {_KAGGLE}/competitions/{name}/rules, then run this again; {by_hand}"
        )
    if "Max retries exceeded" in last or "ConnectionError" in last:
        raise Unavailable(f"Kaggle cannot be reached from here; {by_hand}")
    raise InfraError(f"kaggle competitions download {name}: {last}")
