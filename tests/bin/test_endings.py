"""Every ending of a command has its exit code, and all but bugs one line."""

import errno
import pathlib
import signal
import socket
import subprocess
import sys
import urllib.error

import pytest
import tensorflow as tf
from absl import app

from t2t_phrase import registry
from t2t_phrase.bin import endings
from t2t_phrase.bin.endings import BUG, MACHINE, USAGE, ending_of
from t2t_phrase.bin.machine_errors import without_nodes
from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.io.files import WriteError
from t2t_phrase.io.signals import Signalled


@pytest.fixture(autouse=True)
def no_user_folders(monkeypatch):
    """Earlier tests have imported some, in which the cause of a bug may be."""
    monkeypatch.setattr(registry, "user_folders", list)


def os_error(number: int, *paths: str) -> OSError:
    return OSError(number, "Reason", paths[0] if paths else None, None, *paths[1:2])


NODES = (
    "Graph execution error:\n\nDetected at node model/layer/MatMul defined at (most recent call "
    'last):\n  File "/x.py", line 3, in run\n\n'
)
OOM = (
    f"{NODES}OOM when allocating tensor with shape[512,64,32000] and type float on "
    "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n\t [[{{node model/x}}]]"
    "\nHint: If you want to see a list of allocated tensors when OOM happens, add "
    "report_tensor_allocations_upon_oom. [Op:__inference_step_12]"
)
# What is raised, the exit code, and how the text begins.
ENDINGS = [
    (UserError("no"), USAGE, "error: no"),
    (HParamsError("two\n\n  lines"), USAGE, "error: two\n  lines"),
    (WriteError("cannot write x"), MACHINE, "error: cannot write x"),
    (app.UsageError("give --x"), USAGE, "error: give --x (--help lists all flags)"),
    (KeyboardInterrupt(), 130, "interrupted; finished files are kept"),
    (Signalled(signal.SIGTERM), 143, "ended by SIGTERM; finished files are kept"),
    (Signalled(signal.SIGHUP), 129, "ended by SIGHUP; "),
    (MemoryError(), MACHINE, "error: out of memory: "),
    (os_error(errno.ENOSPC, "/a"), MACHINE, "error: /a: Reason; free some space"),
    (os_error(errno.ENOSPC), MACHINE, "error: standard output or a file: Reason; free"),
    (os_error(errno.EFBIG, "/a"), MACHINE, "error: /a: Reason; see `ulimit -f`"),
    (os_error(errno.EMFILE), MACHINE, "error: standard output or a file: Reason; see"),
    (os_error(errno.EACCES, "/a"), MACHINE, "error: cannot use /a: Reason"),
    (os_error(errno.EROFS, "/a"), MACHINE, "error: cannot use /a: Reason"),
    (os_error(errno.EISDIR, "/a"), USAGE, "error: cannot use /a: Reason"),
    (os_error(errno.ENOTDIR, "/a"), USAGE, "error: cannot use /a: Reason"),
    (os_error(errno.ENAMETOOLONG, "/a"), USAGE, "error: cannot use /a: Reason"),
    (os_error(errno.ENOENT, "/a", "/b"), USAGE, "error: cannot use /a and /b: Reason"),
    (
        FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"),
        MACHINE,
        "error: No usable temporary directory found in ['/tmp']; set TMPDIR",
    ),
    (socket.gaierror(-2, "Name not known"), MACHINE, "error: the network failed: "),
    (ConnectionResetError(104, "reset"), MACHINE, "error: the network failed: "),
    (urllib.error.URLError("no route"), MACHINE, "error: the network failed: "),
    (UnicodeDecodeError("utf-8", b"ab\xffc", 2, 3, "x"), USAGE, "error: a file is not valid UTF-8"),
    (
        tf.errors.ResourceExhaustedError(None, None, OOM),
        MACHINE,
        "error: out of memory for a tensor of shape [512,64,32000]: use smaller batches or a",
    ),
    (
        tf.errors.InternalError(None, None, "CUDA_ERROR_OUT_OF_MEMORY: x"),
        MACHINE,
        "error: out of memory: ",
    ),
    (
        tf.errors.ResourceExhaustedError(None, None, "/r/model.tmp; No space left on device"),
        MACHINE,
        "error: cannot use /r/model.tmp: No space left on device",
    ),
    (
        tf.errors.NotFoundError(None, None, f"{NODES}/d/train-1; No such file or directory"),
        USAGE,
        "error: cannot use /d/train-1: No such file or directory",
    ),
    (
        tf.errors.DataLossError(None, None, "truncated record at 7 [[{{node IteratorGetNext}}]]"),
        USAGE,
        "error: a file is damaged: truncated record at 7",
    ),
    (
        tf.errors.UnavailableError(None, None, "worker 1 is gone [Op:CollectiveReduce]"),
        MACHINE,
        "error: another process or machine does not answer: worker 1 is gone",
    ),
]


@pytest.mark.parametrize(
    ("error", "code", "start"), ENDINGS, ids=[type(error).__name__ for error, _, _ in ENDINGS]
)
def test_ending(error, code, start):
    ending = ending_of(error)
    assert ending.code == code
    assert ending.text.startswith(start)
    # Users' mistakes may be several, one in each line.
    assert "\n" not in ending.text or isinstance(error, HParamsError)
    assert "node" not in ending.text and "/job" not in ending.text


@pytest.mark.parametrize(
    "error",
    [
        KeyError("x"),
        os_error(errno.EBADF),
        os_error(errno.EINVAL, "/a"),
        OSError("no number"),
        BrokenPipeError(errno.EPIPE, "a pipe that is not standard output"),
        RuntimeError("x"),
        tf.errors.InvalidArgumentError(None, None, f"{NODES}shapes [[{{{{node a/b}}}}]] [Op:Mul]"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_bug_shows_its_traceback_and_asks_for_a_report(error, monkeypatch):
    # Other tests import folders of users.
    monkeypatch.setattr(registry, "user_folders", list)
    try:
        raise error
    except Exception as raised:
        ending = ending_of(raised)
    assert ending.code == BUG
    assert ending.text.startswith("Traceback (most recent call last):\n")
    assert "test_endings.py" in ending.text and type(error).__name__ in ending.text
    assert ending.text.splitlines()[-1].startswith("This is a bug in t2t_phrase ")
    assert "{{node" not in ending.text and "Detected at" not in ending.text


def test_an_error_in_a_users_folder_is_not_called_a_bug_of_the_library(tmp_path, monkeypatch):
    folder = tmp_path / "endings_user"
    folder.mkdir()
    (folder / "__init__.py").write_text("def wrong():\n    return int('x')\n")
    registry.discover(str(folder))
    monkeypatch.setattr(registry, "user_folders", lambda: [str(folder)])
    try:
        with pytest.raises(ValueError, match="invalid literal") as raised:
            sys.modules["t2t_usr_dir_endings_user"].wrong()
        ending = ending_of(raised.value)
        # Such as a call of the user's code with the wrong arguments.
        other = ending_of(TypeError("wrong() takes 0 positional arguments but 3 were given"))
    finally:
        del sys.modules["t2t_usr_dir_endings_user"]
    assert ending.code == BUG and ending.text.startswith("Traceback")
    last = ending.text.splitlines()[-1]
    assert last.startswith(f"The error came up in {folder}/__init__.py:2, in your --t2t_usr_dir.")
    last = other.text.splitlines()[-1]
    assert f"The cause may be in your --t2t_usr_dir={folder}" in last and "is a bug in" in last


def test_real_errors_of_tensorflow_name_the_file(tmp_path):
    with pytest.raises(tf.errors.OpError) as missing:
        tf.io.read_file(str(tmp_path / "no file"))
    assert ending_of(missing.value) == (
        USAGE,
        f"error: cannot use {tmp_path / 'no file'}: No such file or directory",
    )
    (tmp_path / "damaged").write_bytes(b"x" * 40)
    with pytest.raises(tf.errors.OpError) as damaged:
        list(tf.data.TFRecordDataset(str(tmp_path / "damaged")))
    ending = ending_of(damaged.value)
    assert ending.code == USAGE and "node" not in ending.text
    with pytest.raises(tf.errors.OpError) as folder:
        tf.io.gfile.listdir(str(tmp_path / "nowhere"))
    assert ending_of(folder.value).code == USAGE


def test_text_of_the_user_is_shown_as_it_is():
    text = "cannot read my  [[old]] {{c}}.txt [Op:x]"
    assert ending_of(UserError(f"{text}\n  one  item")).text == f"error: {text}\n  one  item"
    error = UserError("no checkpoint: [[{{node a}}]] bad input [Op:x]")
    error.__cause__ = tf.errors.DataLossError(None, None, "x")
    assert ending_of(error).text == "error: no checkpoint: bad input"


def test_names_of_nodes_are_left_out():
    message = without_nodes(f"{NODES}bad input [[{{{{node a/b}}}}]] [Op:__inference_f_1] name: ")
    assert message.split("\n")[-1] == "bad input"


COMMAND = [sys.executable, "-m", "t2t_phrase.bin.eval"]


@pytest.fixture
def arguments(tmp_path: pathlib.Path) -> list[str]:
    path = tmp_path / "ü"
    path.write_text("ein Satz mit mehr Wörtern .\n", encoding="utf-8")
    return [f"--translation={path}", f"--reference={path}", f"--baseline={path}"]


def test_a_closed_pipe_ends_quietly(arguments):
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert b"Traceback" not in (notes := process.stderr.read())
        assert b"error" not in notes
        assert process.wait() == 141


def test_a_full_disk_behind_standard_output_is_named(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == endings.MACHINE
    assert done.stderr.decode().splitlines()[-1] == (
        "error: standard output: No space left on device; free some space and run the same "
        "command again"
    )


def test_output_is_utf8_under_every_locale(arguments):
    plain = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    stubborn = {**plain, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for environment in (plain, stubborn):
        done = subprocess.run([*COMMAND, *arguments], env=environment, capture_output=True)
        assert (done.returncode, done.stdout.decode().count("ü")) == (0, 1)


WAITS = """
import sys, time
from t2t_phrase.bin import common
def main(argv):
    try:
        print("ready", flush=True)
        time.sleep(600)
    finally:
        print("cleaned up", flush=True)
common.run(main, tensorflow=False)
"""


@pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        (signal.SIGINT, 130, "interrupted; "),
        (signal.SIGTERM, 143, "ended by SIGTERM; "),
        (signal.SIGHUP, 129, "ended by SIGHUP; "),
    ],
)
def test_signals_end_with_one_line_and_clean_up(number, code, text):
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.stdout.read() == "cleaned up\n"
        assert process.wait() == code
        error = process.stderr.read()
    assert error.startswith(text) and error.count("\n") == 1


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_change_nothing(arguments, closed):
    script = f'exec "$@" {closed}'
    done = subprocess.run(["bash", "-c", script, "bash", *COMMAND, *arguments], capture_output=True)
    assert done.returncode == 0
    assert (b"BLEU = " in done.stdout) == ("1>" not in closed)
    assert b"Traceback" not in done.stderr and b"lost" not in done.stderr
