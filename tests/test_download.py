"""Downloads are whole or not there, go on where they broke off, and say what helps."""

import hashlib
import http.server
import importlib.util
import json
import os
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import InfraError, TaskError, Unavailable
from pytest_mlab.download import ATTEMPTS, fetch, fetch_competition

CONTENT = bytes(range(256)) * 4096
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
NOWHERE = "http://no-such-host.invalid/file"


class Server(http.server.ThreadingHTTPServer):
    """Serves `CONTENT` with ranges; the first ``failures`` answers break off half-way."""

    failures = 0
    ranges = True
    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        """The address of the file."""
        return f"http://127.0.0.1:{self.server_port}/file"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers["Range"]
        self.server.asked.append(wanted)
        if self.server.status != 200:
            self.send_error(self.server.status)
            return
        start = int(wanted[len("bytes=") : -1]) if wanted and self.server.ranges else 0
        if start >= len(CONTENT):
            self.send_error(416)
            return
        rest = CONTENT[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if self.server.failures:
            self.server.failures -= 1
            rest = rest[: len(rest) // 2]
        self.wfile.write(rest)

    def log_message(self, *arguments: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of one file."""
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class TestFetch:
    def test_gives_the_file_and_nothing_beside_it(self, server: Server, tmp_path: Path) -> None:
        fetch(server.url, tmp_path / "below" / "file", SHA256)
        assert [path.name for path in (tmp_path / "below").iterdir()] == ["file"]
        assert (tmp_path / "below" / "file").read_bytes() == CONTENT

    def test_leaves_alone_what_is_there(self, server: Server, tmp_path: Path) -> None:
        for _ in range(2):
            fetch(server.url, tmp_path / "file", SHA256)
        assert len(server.asked) == 1

    def test_goes_on_where_it_broke_off(self, server: Server, tmp_path: Path) -> None:
        server.failures = 2
        fetch(server.url, tmp_path / "file", SHA256)
        half, quarter = len(CONTENT) // 2, len(CONTENT) // 4
        assert server.asked == [None, f"bytes={half}-", f"bytes={half + quarter}-"]
        assert (tmp_path / "file").read_bytes() == CONTENT

    def test_goes_on_where_an_earlier_process_broke_off(
        self, server: Server, tmp_path: Path
    ) -> None:
        (tmp_path / "file.part").write_bytes(CONTENT[:1000])
        fetch(server.url, tmp_path / "file", SHA256)
        assert server.asked == ["bytes=1000-"]

    def test_finds_that_all_of_it_was_there(self, server: Server, tmp_path: Path) -> None:
        (tmp_path / "file.part").write_bytes(CONTENT)
        fetch(server.url, tmp_path / "file", SHA256)
        assert (tmp_path / "file").read_bytes() == CONTENT

    def test_begins_anew_where_the_server_knows_no_ranges(
        self, server: Server, tmp_path: Path
    ) -> None:
        server.ranges = False
        (tmp_path / "file.part").write_bytes(b"something else")
        fetch(server.url, tmp_path / "file", SHA256)
        assert (tmp_path / "file").read_bytes() == CONTENT

    def test_begins_anew_without_a_checksum(self, server: Server, tmp_path: Path) -> None:
        """Nothing would tell whether both halves are of the same file."""
        (tmp_path / "file.part").write_bytes(b"something else")
        fetch(server.url, tmp_path / "file")
        assert (tmp_path / "file").read_bytes() == CONTENT

    def test_what_breaks_off_for_good_is_kept_for_another_attempt(
        self, server: Server, tmp_path: Path
    ) -> None:
        server.failures = ATTEMPTS
        with pytest.raises(InfraError, match=f"broke off {ATTEMPTS} times, last by: .* bytes"):
            fetch(server.url, tmp_path / "file", SHA256)
        assert not (tmp_path / "file").exists()
        fetch(server.url, tmp_path / "file", SHA256)
        assert (tmp_path / "file").read_bytes() == CONTENT

    def test_another_content_is_refused_and_forgotten(self, server: Server, tmp_path: Path) -> None:
        with pytest.raises(InfraError, match="sent something else than the file of md5:0123"):
            fetch(server.url, tmp_path / "file", "md5:0123")
        assert list(tmp_path.iterdir()) == []

    def test_a_file_put_there_by_hand_has_to_be_the_right_one(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(CONTENT)
        fetch(NOWHERE, tmp_path / "file", SHA256)
        (tmp_path / "file").write_bytes(b"another")
        with pytest.raises(InfraError, match=r"file: is not the file .*; delete it"):
            fetch(NOWHERE, tmp_path / "file", SHA256)

    def test_what_the_server_refuses_is_told_with_the_place(
        self, server: Server, tmp_path: Path
    ) -> None:
        server.status = 404
        with pytest.raises(InfraError, match=r"says 404 .* put it there as .*/file$"):
            fetch(server.url, tmp_path / "file", SHA256)

    @pytest.mark.parametrize("url", [NOWHERE, "http://127.0.0.1:9/file"])
    def test_without_a_network_the_place_is_told(self, tmp_path: Path, url: str) -> None:
        with pytest.raises(Unavailable, match="cannot be reached from here") as error:
            fetch(url, tmp_path / "file")
        assert str(error.value).endswith(f"put the file there by hand as {tmp_path / 'file'}")

    def test_a_checksum_without_its_kind_is_the_authors_mistake(
        self, server: Server, tmp_path: Path
    ) -> None:
        with pytest.raises(TaskError, match='"0123" is no checksum'):
            fetch(server.url, tmp_path / "file", "0123")


class Kaggle(http.server.BaseHTTPRequestHandler):
    """Kaggle's API as far as its client asks it for a competition's files."""

    accepted = True
    archive = b""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.path.endswith("CompetitionApiService/DownloadDataFiles")
        assert json.loads(body) == {"competitionName": "lost-and-found"}
        if not self.accepted:
            self.send_error(403)
            return
        self.send_response(302)
        self.send_header("Location", "http://localhost/lost-and-found.zip?token=1")
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.archive)))
        self.send_header("Last-Modified", "Sat, 21 Nov 2026 12:00:00 GMT")
        self.end_headers()
        self.wfile.write(self.archive)

    def log_message(self, *arguments: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def no_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without credentials of Kaggle's."""
    if importlib.util.find_spec("kaggle") is None:
        pytest.skip("Kaggle's own client is not installed: pip install 'pytest-mlab[kaggle]'")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("KAGGLE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def account(no_account: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with an account."""
    monkeypatch.setenv("KAGGLE_USERNAME", "somebody")
    monkeypatch.setenv("KAGGLE_KEY", "secret")


@pytest.fixture
def kaggle(account: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server on this machine that Kaggle's client asks, as its developers let it do."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Kaggle) as server:
        monkeypatch.setenv("KAGGLE_API_ENVIRONMENT", "LOCALHOST")
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


class TestFetchCompetition:
    BY_HAND = "or put lost-and-found.zip, downloaded from https://www.kaggle.com/competitions/"

    @pytest.mark.usefixtures("kaggle")
    def test_kaggles_client_fetches_all_files(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with zipfile.ZipFile(tmp_path / "source.zip", "w") as archive:
            archive.writestr("train.csv", "PassengerId\n1\n")
        monkeypatch.setattr(Kaggle, "archive", (tmp_path / "source.zip").read_bytes())
        path = fetch_competition("lost-and-found", tmp_path / "raw")
        assert path == tmp_path / "raw" / "lost-and-found.zip"
        assert zipfile.ZipFile(path).namelist() == ["train.csv"]
        monkeypatch.setattr(Kaggle, "accepted", False)
        assert fetch_competition("lost-and-found", tmp_path / "raw") == path, "it was there"

    @pytest.mark.usefixtures("kaggle")
    def test_rules_that_were_not_accepted_are_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Kaggle, "accepted", False)
        with pytest.raises(Unavailable) as error:
            fetch_competition("lost-and-found", tmp_path / "raw")
        assert "https://www.kaggle.com/competitions/lost-and-found/rules" in str(error.value)
        assert self.BY_HAND in str(error.value)

    @pytest.mark.usefixtures("no_account")
    def test_without_an_account_it_says_the_page_and_the_command(self, tmp_path: Path) -> None:
        with pytest.raises(Unavailable) as error:
            fetch_competition("lost-and-found", tmp_path / "raw")
        message = str(error.value)
        assert "https://www.kaggle.com/settings/api, then run: kaggle auth login" in message
        assert message.endswith(f"by hand as {tmp_path / 'raw' / 'lost-and-found.zip'}")

    @pytest.mark.usefixtures("account")
    def test_without_a_network_it_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(Unavailable, match="Kaggle cannot be reached from here; or put"):
            fetch_competition("lost-and-found", tmp_path / "raw")

    def test_a_file_put_there_by_hand_needs_no_account(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "lost-and-found.zip", "w") as archive:
            archive.writestr("train.csv", "PassengerId\n1\n")
        assert fetch_competition("lost-and-found", tmp_path) == tmp_path / "lost-and-found.zip"

    def test_half_a_file_put_there_by_hand_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "lost-and-found.zip").write_bytes(b"PK\3\4 and so on")
        with pytest.raises(InfraError, match="is not a whole zip file; delete it"):
            fetch_competition("lost-and-found", tmp_path)
