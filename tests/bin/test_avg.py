import pytest
from absl import app
from toy_run import call

from t2t_phrase.bin import avg


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "either --num_last_checkpoints or --checkpoints is required"),
        (["--num_last_checkpoints=2", "--checkpoints=a,b"], "either --num_last_checkpoints or"),
        (["--num_last_checkpoints=2"], "--output_dir is required"),
        (
            ["--output_dir=run", "--num_last_checkpoints=2", "--output_path="],
            "--output_path= names",
        ),
        (["--output_dir=run", "--checkpoints=a,"], "--checkpoints= names no file"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(app.UsageError, match=message):
        call(avg, *arguments)
