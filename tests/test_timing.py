"""Run times are measured from outside, on inputs nobody has seen, and no trick gains anything."""

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pytest_mlab import InvalidSubmission, TaskError, timing
from pytest_mlab.arrays import Array
from pytest_mlab.timing import compare_speed

DOUBLE = """
import numpy as np

def double(values):
    return 2 * values
"""


def draw(random: np.random.Generator) -> list[Array]:
    return [random.normal(size=(20, 50))]


class Files:
    """A reference and a candidate to be compared."""

    def __init__(self, folder: Path) -> None:
        self.reference = folder / "reference.py"
        self.candidate = folder / "submission.py"
        self.reference.write_text(DOUBLE)

    def compare(self, candidate: str, rounds: int = 1) -> tuple[float, float]:
        """Give the seconds of candidate and reference."""
        self.candidate.write_text(textwrap.dedent(candidate))
        return compare_speed(
            self.candidate, self.reference, function="double", draw=draw, rounds=rounds
        )


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class TestSeconds:
    def test_candidates_come_first_and_the_calls_are_what_is_timed(self, files: Files) -> None:
        files.reference.write_text(f"import time\ntime.sleep(0.3)\n{DOUBLE}")
        candidate, reference = files.compare(
            """
            import time

            def double(values):
                time.sleep(0.3)
                return values + values
            """
        )
        assert 0.3 <= candidate < 1.0
        assert 0 < reference < 0.3

    def test_are_medians(self, files: Files, tmp_path: Path) -> None:
        """Only the first of three calls is slow."""
        candidate, _ = files.compare(
            f"""
            import time
            from pathlib import Path

            def double(values):
                if not Path({str(tmp_path / "called")!r}).exists():
                    Path({str(tmp_path / "called")!r}).touch()
                    time.sleep(0.5)
                return 2 * values
            """,
            rounds=3,
        )
        assert candidate < 0.3

    def test_inputs_are_drawn_anew_for_each_round_and_each_comparison(self, files: Files) -> None:
        drawn: list[Array] = []

        def keep(random: np.random.Generator) -> list[Array]:
            drawn.extend(draw(random))
            return drawn[-1:]

        files.candidate.write_text(DOUBLE)
        for _ in range(2):
            compare_speed(files.candidate, files.reference, function="double", draw=keep, rounds=2)
        assert len({values.tobytes() for values in drawn}) == 4

    def test_several_arguments_of_any_shape_and_type(self, files: Files) -> None:
        source = "def add(a, b, c):\n    return a[:, :1] + b.sum() + c\n"
        files.reference.write_text(source)
        files.candidate.write_text(source)
        compare_speed(
            files.candidate,
            files.reference,
            function="add",
            draw=lambda random: [random.normal(size=(3, 4)), np.arange(5), np.array(2.5)],
            rounds=1,
        )


class TestHonestCodeWorks:
    def test_whatever_it_prints(self, files: Files) -> None:
        files.compare(
            """
            import os, sys
            print("importing", flush=True)

            def double(values):
                os.write(1, b"standard output")
                print("standard error", file=sys.stderr)
                return 2 * values
            """
        )

    def test_however_its_array_lies_in_memory(self, files: Files) -> None:
        files.compare(
            "import numpy as np\ndef double(values):\n    return np.asfortranarray(2 * values)\n"
        )

    def test_within_the_tolerance(self, files: Files) -> None:
        files.compare("def double(values):\n    return 2 * values + 1e-7\n")

    def test_with_the_environments_number_of_threads(
        self, files: Files, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OMP_NUM_THREADS", "3")
        files.compare(
            """
            import os
            assert os.environ["OMP_NUM_THREADS"] == "3"

            def double(values):
                return 2 * values
            """
        )

    def test_in_a_file_named_like_a_library(self, files: Files, tmp_path: Path) -> None:
        """Neither the file itself nor its neighbours are imported in a library's place."""
        files.candidate = tmp_path / "numpy.py"
        (tmp_path / "math.py").write_text("raise RuntimeError('shadowed')")
        files.compare(
            """
            import math
            import numpy as np

            def double(values):
                return np.multiply(values, math.floor(2.5))
            """
        )


WRONG = {
    "values": (
        "2 * values + 1e-3",
        "has values that differ from the reference's by up to 0.001 .allowed: 1e-06",
    ),
    "one value": (
        "2 * values + (values == values.max())",
        "differ from the reference's by up to 1",
    ),
    "shape": ("2 * values.T", r"has the shape \(50, 20\); the reference's is \(20, 50\)"),
    "size": ("np.zeros((200, 500))", "an output far larger than the reference's"),
    "nan": ("values * np.nan", "gives an output that has NaN or infinite values"),
    "infinity": ("values / 0", "gives an output that has NaN or infinite values"),
    "integers": ("(2 * values).astype(int)", "has the type int64; return float64"),
    "complex numbers": ("2j * values", "has the type complex128; return float64"),
    "objects": ("(2 * values).astype(object)", "Object arrays cannot be saved"),
    "nothing": ("None", "Object arrays cannot be saved"),
    "half precision": ("(2 * values).astype(np.float16)", "differ from the reference's"),
}


@pytest.mark.parametrize(("output", "message"), WRONG.values(), ids=list(WRONG))
def test_wrong_outputs_are_invalid(files: Files, output: str, message: str) -> None:
    with pytest.raises(InvalidSubmission, match=message):
        files.compare(
            f"""
            import numpy as np

            def double(values):
                with np.errstate(all="ignore"):
                    return {output}
            """
        )


class TestFailuresAreTheCandidates:
    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("def double(values):\n    return values @ values\n", "return values @ values"),
            ("def double(values):\n    raise MemoryError('too much')\n", "MemoryError: too much"),
            ("def double():\n    pass\n", "takes 0 positional arguments but 1 was given"),
            ("def triple(values):\n    pass\n", "has no attribute 'double'"),
            ("import not_installed_anywhere\n", "No module named 'not_installed_anywhere'"),
            ("def double(values)\n    return 2 * values\n", "SyntaxError: expected ':'"),
            ("raise SystemExit('no')\n", r"exit code 1\); what it printed ends with\nno"),
            ("import os\nos.kill(os.getpid(), 11)\n", "gives no output .killed by SIGSEGV"),
            ("import os\nos.closerange(0, 100)\nimport time\ntime.sleep(9)\n", "closes the conn"),
            ("print('long' * 100_000)\nraise SystemExit(3)\n", r"exit code 3\).*\n(long)+\n"),
        ],
    )
    def test_told_with_the_end_of_what_it_printed(
        self, files: Files, source: str, message: str
    ) -> None:
        with pytest.raises(InvalidSubmission, match=message) as caught:
            files.compare(source)
        assert str(caught.value).startswith("submission.py, call 1: double() ")
        assert len(str(caught.value)) < 2_000

    def test_taking_many_times_as_long_as_the_reference(self, files: Files) -> None:
        start = time.monotonic()
        with pytest.raises(InvalidSubmission, match=r"has not given its output within 1\.0 s"):
            files.compare("import time\ndef double(values):\n    time.sleep(60)\n")
        assert time.monotonic() - start < 10

    def test_output_that_never_ends(self, files: Files) -> None:
        with pytest.raises(InvalidSubmission, match=r"far larger|within 1\.0 s"):
            files.compare(
                """
                import os, stat

                def double(values):
                    (channel,) = {
                        fd for fd in range(3, 20)
                        if os.path.exists(f"/proc/self/fd/{fd}")
                        and stat.S_ISSOCK(os.fstat(fd).st_mode)
                    }
                    while True:
                        os.write(channel, bytes(1000))
                """
            )

    def test_importing_for_ever(self, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(timing, "STARTING_SECONDS", 1.0)
        with pytest.raises(
            InvalidSubmission, match=r"importing submission\.py takes more than 1 s"
        ):
            files.compare("import time\ntime.sleep(60)\n")

    def test_unlike_those_of_the_reference(self, files: Files) -> None:
        files.reference.write_text("def double(values):\n    return values.no_such_thing\n")
        with pytest.raises(
            TaskError, match=r"reference\.py: double\(\)(.|\n)*no attribute 'no_such"
        ):
            files.compare(DOUBLE)

    def test_unlike_a_reference_without_a_usable_output(self, files: Files) -> None:
        files.reference.write_text("def double(values):\n    return 3\n")
        with pytest.raises(
            TaskError, match=r"reference\.py: double\(\) gives an output that has the type int64"
        ):
            files.compare(DOUBLE)


class TestTricks:
    """Each is what an agent could hand in instead of faster code."""

    def test_a_patched_clock(self, files: Files) -> None:
        candidate, _ = files.compare(
            """
            import time
            sleep = time.sleep
            time.perf_counter = time.monotonic = time.time = lambda: 0.0

            def double(values):
                sleep(0.3)
                return 2 * values
            """
        )
        assert candidate >= 0.3

    def test_the_answer_of_an_earlier_call(self, files: Files, tmp_path: Path) -> None:
        with pytest.raises(InvalidSubmission, match=r"call 2: .* differ from the reference's"):
            files.compare(
                f"""
                import os
                import numpy as np
                kept = {str(tmp_path / "kept.npy")!r}

                def double(values):
                    if os.path.exists(kept):
                        return np.load(kept)
                    np.save(kept, 2 * values)
                    return 2 * values
                """,
                rounds=2,
            )

    def test_an_early_sign_of_being_done(self, files: Files) -> None:
        """What is sent before the input has come cannot be its output."""
        with pytest.raises(InvalidSubmission, match=r"no array of numbers|gives no output"):
            files.compare(
                """
                import os

                for fd in range(3, 20):
                    try:
                        os.write(fd, b"+done")
                    except OSError:
                        pass

                def double(values):
                    return 2 * values
                """
            )

    @pytest.mark.parametrize(
        "header",
        [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (20, 50), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (0x" + "f" * 8000 + ",), }",
            "{'descr': '|O', 'fortran_order': False, 'shape': (20, 50), }",
            "(" * 5000,
            "{'descr': (",
        ],
        ids=["cut-short", "huge", "not-printable", "pickled", "nested", "unfinished"],
    )
    def test_a_forged_output(self, files: Files, header: str) -> None:
        with pytest.raises(
            InvalidSubmission, match=r"^submission\.py, call 1: double\(\) gives an output"
        ):
            files.compare(
                f"""
                import os, stat

                def double(values):
                    header = {header!r}.encode() + b"\\n"
                    forged = b"\\x93NUMPY\\x01\\x00" + len(header).to_bytes(2, "little") + header
                    for fd in range(3, 20):
                        if os.path.exists(f"/proc/self/fd/{{fd}}"):
                            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                                os.write(fd, forged)
                    os._exit(0)
                """
            )

    def test_a_lying_array(self, files: Files) -> None:
        with pytest.raises(InvalidSubmission, match="that is cut short"):
            files.compare(
                """
                import numpy as np

                class Liar(np.ndarray):
                    shape = (20, 50)

                def double(values):
                    return np.zeros(1).view(Liar)
                """
            )

    def test_slowing_the_reference_down_on_the_disk(self, files: Files) -> None:
        _, reference = files.compare(
            f"""
            from pathlib import Path
            slow = "import time\\ntime.sleep(9)\\n"
            Path({str(files.reference)!r}).write_text(slow)

            def double(values):
                return 2 * values
            """,
            rounds=2,
        )
        assert reference < 1.0

    def test_slowing_the_reference_down_from_a_daemon(self, files: Files, tmp_path: Path) -> None:
        """A process in a session of its own, whose parent is gone, is found and ended."""
        pids = tmp_path / "pids"
        files.compare(
            f"""
            import os, time

            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    with open({str(pids)!r}, "a") as file:
                        file.write(f"{{os.getpid()}}\\n")
                    while True:
                        pass
                os._exit(0)
            while not os.path.exists({str(pids)!r}):
                time.sleep(0.01)

            def double(values):
                return 2 * values
            """
        )
        (daemon,) = map(int, pids.read_text().split())
        assert not is_alive(daemon)

    def test_holding_the_connection_open(self, files: Files) -> None:
        """The end of the output does not wait for whoever else has the socket."""
        candidate, _ = files.compare(
            """
            import os, time

            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)

            def double(values):
                return 2 * values
            """
        )
        assert candidate < 1.0


def test_nothing_is_left_of_a_scorer_that_is_killed(tmp_path: Path) -> None:
    """The child has a session of its own, and yet ends with the process that measures."""
    pid = tmp_path / "pid"
    code = tmp_path / "code.py"
    code.write_text(
        "import os, time\n"
        f"open({str(tmp_path / 'new')!r}, 'w').write(str(os.getpid()))\n"
        f"os.rename({str(tmp_path / 'new')!r}, {str(pid)!r})\n"
        "time.sleep(60)\n"
    )
    script = (
        "from pathlib import Path\n"
        "from pytest_mlab.timing import compare_speed\n"
        f"code = Path({str(code)!r})\n"
        "compare_speed(code, code, function='double', draw=lambda random: [])\n"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as scorer:
        wait_until(pid.exists)
        child = int(pid.read_text())
        assert is_alive(child)
        scorer.kill()
    wait_until(lambda: not is_alive(child))
