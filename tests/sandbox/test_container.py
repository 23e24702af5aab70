"""A container's command line, and its end. The engine here is a stand-in that runs no container.

It keeps what it was asked, and starts the command outside our process group, as an engine's daemon
does. What a real engine makes of it, `test_engine`, `test_attacks` and `test_inside` try.
"""

import csv
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mlab.exceptions import InfraError
from pytest_mlab.process import Completed, run_command
from pytest_mlab.repl import Repl
from pytest_mlab.sandbox import Sandbox, View, container, find_sandbox
from pytest_mlab.sandbox.container import Container, find_container
from tests.projects import Project
from tests.sandbox.conftest import Place, grows

ENGINE = """\
#!{python}
import json, os, signal, subprocess, sys, time
from contextlib import suppress
from pathlib import Path

state = Path({state!r})
with open(state / "calls", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
verb, *arguments = sys.argv[1:]
if verb == "--version":
    print({name!r}, "version 5.0.0")
if verb == "ps":
    sys.exit({answer})
if verb == "run":
    name = arguments[arguments.index("--name") + 1]
    at = arguments.index("--entrypoint")
    inside = dict(
        arguments[i + 1].split("=", 1) for i, word in enumerate(arguments[:at]) if word == "--env"
    )
    child = subprocess.Popen(
        ["/bin/sh", "-c", 'echo $$ > "$0"; exec "$@"', state / name, arguments[at + 1],
         *arguments[at + 3:]],
        cwd=arguments[arguments.index("--workdir") + 1],
        env=inside | {{"PATH": os.environ["PATH"]}},
        start_new_session=True,
    )
    sys.exit(child.wait() % 256)
if verb == "rm":
    slow = not list(state.glob("removing-*"))
    removing = state / f"removing-{{os.getpid()}}"
    removing.touch()
    with suppress(ProcessLookupError):
        os.killpg(int((state / arguments[-1]).read_text()), signal.SIGKILL)
    time.sleep(slow)
    removing.rename(state / f"removed-{{os.getpid()}}")
"""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put an engine called docker on the path; give the folder of what it remembers."""
    state = tmp_path / "engine"
    make_engine(state, "docker")
    monkeypatch.setenv("PATH", f"{state / 'bin'}:{os.environ['PATH']}")
    find_container.cache_clear()
    yield state
    find_container.cache_clear()


def make_engine(state: Path, name: str, answer: str = "0", version: str = "") -> Path:
    program = state / "bin" / name
    program.parent.mkdir(parents=True)
    program.write_text(
        ENGINE.format(python=sys.executable, state=str(state), answer=answer, name=version or name)
    )
    program.chmod(0o755)
    return program


@pytest.fixture(params=["podman", "docker"])
def podman(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Give the path of a Podman, by its own name or by that of Docker."""
    return str(make_engine(tmp_path / "other", request.param, version="podman"))


def options_of(command: list[str]) -> dict[str, list[str]]:
    """Give the options of a ``run``, each with its values in order."""
    arguments = iter(command[command.index("run") + 1 :])
    alone = {"--rm", "--interactive", "--init", "--quiet", "--read-only"}
    options: dict[str, list[str]] = {}
    for word in arguments:
        if not word.startswith("--"):
            break
        options.setdefault(word, []).extend([] if word in alone else [next(arguments)])
    return options


def mounts_of(command: list[str]) -> list[dict[str, str]]:
    return [
        dict(field.partition("=")[::2] for field in next(csv.reader([value])))
        for value in options_of(command).get("--mount", [])
    ]


def run(sandbox: Sandbox, view: View, *argv: str, seconds: float = 20) -> Completed:
    return run_command(
        sandbox.command(argv, view),
        cwd=view.writable,
        environment=sandbox.environment(view),
        seconds=seconds,
        drain_seconds=sandbox.drain_seconds,
    )


def test_nothing_is_seen_but_what_the_view_names(place: Place) -> None:
    command = Container("docker").command(["true"], place.view(image="python:3.12"))
    assert mounts_of(command) == [
        {"type": "bind", "source": str(path), "target": str(path)} | options
        for path, options in ((place.public, {"readonly": ""}), (place.workspace, {}))
    ]
    options = options_of(command)
    assert options["--network"] == ["none"]
    assert options["--cap-drop"] == ["ALL"]
    assert options["--security-opt"] == ["no-new-privileges"]
    assert options["--user"] == [f"{os.geteuid()}:{os.getegid()}"]
    assert {"--read-only", "--rm", "--init"} <= set(options)
    assert "-v" not in command
    assert "--privileged" not in command


def test_what_is_seen_in_place_of_another_is_mounted_over_it(place: Place) -> None:
    view = place.view(image="python", in_place_of={place.workspace / "notes": place.public})
    *_, mount = mounts_of(Container("docker").command(["true"], view))
    target = str(place.workspace / "notes")
    expected = {"type": "bind", "source": str(place.public), "target": target, "readonly": ""}
    assert mount == expected


def test_a_path_with_a_comma_and_a_line_end_is_one_path(tmp_path: Path) -> None:
    view = View(writable=tmp_path / 'a,b"c\nd', image="python")
    (mount,) = mounts_of(Container("docker").command(["true"], view))
    assert mount["source"] == mount["target"] == str(view.writable)


def test_limits_become_the_engines(place: Place) -> None:
    view = place.view(image="python", memory_gb=0.5, processes=7, open_files=9, file_gb=1)
    options = options_of(Container("docker").command(["true"], view))
    assert options["--memory"] == options["--memory-swap"] == [str(2**29)]
    assert options["--pids-limit"] == ["7"]
    limits = dict(limit.split("=") for limit in options["--ulimit"])
    each = {"core": "0", "data": str(2**29), "fsize": str(2**30), "nofile": "9"}
    assert limits == each | ({"nproc": "7"} if os.geteuid() == 0 else {})


@pytest.mark.parametrize("kernel_counts_apart", [True, False])
def test_an_ordinary_users_processes_are_not_counted_with_others_of_theirs(
    place: Place, monkeypatch: pytest.MonkeyPatch, podman: str, kernel_counts_apart: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(container, "COUNTS_APART", kernel_counts_apart)
    view = place.view(image="python", processes=7)
    for engine, limited in (("docker", False), (podman, kernel_counts_apart)):
        limits = options_of(Container(engine).command(["true"], view))["--ulimit"]
        assert ("nproc=7" in limits) is limited


def test_no_limit_is_above_what_is_pytests_own(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (5, 5))
    options = options_of(Container("docker").command(["true"], place.view(image="python")))
    assert {"nofile=5", "fsize=5", "data=5"} <= set(options["--ulimit"])


def test_the_network_is_there_for_who_asks(place: Place) -> None:
    view = place.view(image="python", network=True)
    assert "--network" not in options_of(Container("docker").command(["true"], view))


def test_gpus_are_handed_in_and_counted_anew(place: Place) -> None:
    view = place.view(image="cuda", environment={"CUDA_VISIBLE_DEVICES": "2,5"})
    options = options_of(Container("docker").command(["true"], view))
    assert options["--gpus"] == ['"device=2,5"']
    assert "CUDA_VISIBLE_DEVICES=0,1" in options["--env"]


def test_without_gpus_none_is_handed_in(place: Place) -> None:
    options = options_of(Container("docker").command(["true"], place.view(image="python")))
    assert "--gpus" not in options
    assert "CUDA_VISIBLE_DEVICES=" in options["--env"]


def test_our_python_becomes_the_images(place: Place) -> None:
    command = Container("docker").command([sys.executable, "train.py"], place.view(image="img"))
    assert command[-4:] == ["--entrypoint", "python3", "img", "train.py"][-4:]


def test_without_an_image_it_says_what_to_do(place: Place) -> None:
    with pytest.raises(InfraError, match="needs an image"):
        Container("docker").command(["true"], place.view())


def test_podman_keeps_an_ordinary_users_number(
    place: Place, monkeypatch: pytest.MonkeyPatch, podman: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    view = place.view(image="python")
    options = options_of(Container(podman).command(["true"], view))
    assert options["--userns"] == ["keep-id"]
    assert "--userns" not in options_of(Container("docker").command(["true"], view))


def test_podman_knows_gpus_by_other_names(place: Place, podman: str) -> None:
    view = place.view(image="cuda", environment={"CUDA_VISIBLE_DEVICES": "2,5"})
    options = options_of(Container(podman).command(["true"], view))
    assert options["--device"] == ["nvidia.com/gpu=2", "nvidia.com/gpu=5"]
    assert "CUDA_VISIBLE_DEVICES=0,1" in options["--env"]
    assert "--gpus" not in options


def test_what_is_hidden_has_a_folder_or_nothing_over_it(place: Place, podman: str) -> None:
    """Podman copies what was in a folder into the one mounted over it, unless it is told not to."""
    (place.public / "answers").mkdir()
    hidden = (place.public / "answers", place.public / "train.csv")
    view = place.view(image="python", concealed=hidden)
    for engine, said in (("docker", ""), (podman, "notmpcopyup,")):
        command = Container(engine).command(["true"], view)
        assert options_of(command)["--tmpfs"][1:] == [f"{hidden[0]}:{said}size=4096"]
        mount = {"type": "bind", "source": "/dev/null", "target": str(hidden[1]), "readonly": ""}
        assert mount in mounts_of(command)


def test_the_engine_on_the_path_is_found_and_asked(state: Path) -> None:
    assert find_sandbox("container").name == "container"
    assert json.loads((state / "calls").read_text()) == ["ps", "--quiet"]


def test_an_image_is_tried_once(state: Path, place: Place) -> None:
    sandbox = find_sandbox("container")
    for image in ("one", "one", "two"):
        sandbox.command(["true"], place.view(image=image))
    calls = [json.loads(line) for line in (state / "calls").read_text().splitlines()]
    tried = [call[call.index("--entrypoint") + 2] for call in calls if call[0] == "run"]
    assert tried == ["one", "two"]


def test_an_image_that_does_not_work_is_told_from_a_script_that_does_not(
    tmp_path: Path, place: Place
) -> None:
    engine = tmp_path / "engine-without-images"
    engine.write_text('#!/bin/sh\n[ "$1" = ps ] || { echo no such image >&2; exit 125; }\n')
    engine.chmod(0o755)
    sandbox = find_sandbox(f"container:{engine}")
    with pytest.raises(InfraError, match=r"image python:4: no such image\): name an engine with"):
        sandbox.command(["true"], place.view(image="python:4"))


def test_a_command_line_of_ones_own_is_taken(tmp_path: Path) -> None:
    find_container.cache_clear()
    engine = make_engine(tmp_path / "other", "engine")
    sandbox = find_sandbox(f"container:{engine}")
    command = sandbox.command(["true"], View(writable=tmp_path, image="img"))
    assert str(engine) in command


def test_an_engine_that_does_not_answer_is_told(tmp_path: Path) -> None:
    engine = make_engine(tmp_path / "dead", "engine", answer="'the daemon is not running'")
    with pytest.raises(InfraError, match="the daemon is not running"):
        find_sandbox(f"container:{engine}")


def test_output_input_and_exit_code_pass_through(state: Path, place: Place) -> None:
    sandbox, view = find_sandbox("container"), place.view(image="python")
    completed = run_command(
        sandbox.command(["sh", "-c", "cat; echo err >&2; exit 7"], view),
        cwd=view.writable,
        environment=sandbox.environment(view),
        seconds=20,
        stdin=b"in",
    )
    assert (completed.stdout, completed.stderr, completed.exit_code) == ("in", "err\n", 7)


def test_the_command_gets_the_views_environment_only(
    state: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    view = place.view(image="python", environment={"OMP_NUM_THREADS": "2"})
    completed = run(find_sandbox("container"), view, "env")
    assert "sk-secret" not in completed.stdout
    assert "OMP_NUM_THREADS=2\n" in completed.stdout


BEAT = "while :; do echo >> beats; sleep 0.02; done"


def test_a_container_ends_at_the_time_limit(state: Path, place: Place) -> None:
    """And nothing that removes it goes on when the command is over."""
    completed = run(find_sandbox("container"), place.view(image="i"), "sh", "-c", BEAT, seconds=1)
    assert completed.ended == "timeout"
    verbs = [json.loads(line)[0] for line in (state / "calls").read_text().splitlines()]
    assert verbs[:4] == ["ps", "--version", "run", "run"]
    assert set(verbs[4:]) == {"rm"}
    assert not list(state.glob("removing-*"))
    time.sleep(1)
    assert not grows(place.workspace / "beats")


def test_a_container_ends_with_a_harness_that_was_killed(state: Path, place: Place) -> None:
    sandbox, view = find_sandbox("container"), place.view(image="img")
    script = f"""
from pathlib import Path
from pytest_mlab.process import run_command
run_command({sandbox.command(["sh", "-c", BEAT], view)!r}, cwd=Path("/"),
            environment={sandbox.environment(view)!r}, seconds=60)
"""
    harness = subprocess.Popen([sys.executable, "-c", script])
    beats = place.workspace / "beats"
    deadline = time.monotonic() + 20
    while not beats.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    harness.kill()
    harness.wait()
    time.sleep(1)
    assert not grows(beats)


def test_a_repl_needs_no_more_than_the_three_streams(state: Path, place: Place) -> None:
    with Repl(find_sandbox("container"), place.view(image="python")) as repl:
        repl.run("x = 20", 20)
        assert repl.run("x + 1", 20).text() == "21\n"


class TestTheImage:
    """A whole trial, in what stands for a container: its scripts, its REPL and its scorer."""

    def run(self, project: Project, *options: str, image: str | None = None) -> pytest.RunResult:
        project.task("cut", resources={"image": image} if image else {})
        return project.run(
            "-p", "no:xdist", "tasks", "--mlab-agent=solution", "--mlab-sandbox=container", *options
        )

    def images(self, state: Path) -> set[str]:
        calls = [json.loads(line) for line in (state / "calls").read_text().splitlines()]
        return {call[call.index("--entrypoint") + 2] for call in calls if call[0] == "run"}

    def test_is_the_tasks(self, state: Path, project: Project) -> None:
        self.run(project, image="of-the-task").assert_outcomes(passed=1)
        assert self.images(state) == {"of-the-task"}
        assert project.statuses() == {"cut": "success"}

    def test_is_the_options_where_it_names_one(self, state: Path, project: Project) -> None:
        self.run(project, "--mlab-image=of-mine:1", image="of-the-task").assert_outcomes(passed=1)
        assert self.images(state) == {"of-mine:1"}

    def test_is_asked_for_where_nobody_names_one(self, state: Path, project: Project) -> None:
        run = self.run(project)
        run.assert_outcomes(errors=1)
        assert "with --mlab-image or in task.toml: [resources] image" in run.stdout.str()
        assert project.statuses() == {"cut": "infra-error"}

    def test_is_of_no_use_without_a_container(self, project: Project) -> None:
        project.task("cut")
        said = project.refuse("tasks", "--mlab-agent=solution", "--mlab-image=python")
        assert said == "--mlab-image: is what a container runs; add --mlab-sandbox=container"


def test_a_session_in_a_sandbox_that_does_not_work_is_refused(project: Project) -> None:
    project.task("cut")
    engine = "container:no-such-engine"
    said = project.refuse("tasks", "--mlab-agent=solution", f"--mlab-sandbox={engine}")
    assert "the sandbox container does not work here (no-such-engine: is not installed)" in said
    assert not project.sessions
