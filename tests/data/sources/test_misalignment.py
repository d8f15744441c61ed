import random

import pytest

from t2t_phrase.data.sources.misalignment import first_shifted_line


@pytest.mark.parametrize("lost", [30, 200, 399])
@pytest.mark.parametrize("swap", [False, True])
def test_finds_the_lost_line(tmp_path, lost, swap):
    rng = random.Random(lost)
    lengths = [rng.randint(5, 120) for _ in range(400)]
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("".join("x" * n + "\n" for n in lengths))
    target = ["y" * int(n * rng.uniform(1.0, 1.2)) + "\n" for n in lengths]
    del target[lost]
    b.write_text("".join(target))
    found = first_shifted_line(b, a) if swap else first_shifted_line(a, b)
    assert abs(found - (lost + 1)) <= 2


def test_an_empty_file_breaks_at_once(tmp_path):
    (tmp_path / "a").write_text("x\n")
    (tmp_path / "b").write_text("")
    assert first_shifted_line(tmp_path / "a", tmp_path / "b") == 1
