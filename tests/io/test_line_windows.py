import pytest

from t2t_phrase.config import UserError
from t2t_phrase.io.line_windows import Window, windows


def test_windows_cover_the_lines_in_order():
    lines = [str(i) for i in range(25)]
    found = list(windows(iter(lines), {"x": (f"{i}!" for i in range(25))}, size=10))
    assert [window.first for window in found] == [0, 10, 20]
    assert [line for window in found for line in window.lines] == lines
    assert found[2].beside == {"x": ["20!", "21!", "22!", "23!", "24!"]}
    assert list(windows([])) == []


def test_long_lines_end_a_window_early():
    found = list(windows(["abc", "de", "f" * 9, "g"], {"x": ["", "1", "", ""]}, characters=6))
    assert [window.lines for window in found] == [["abc", "de"], ["f" * 9], ["g"]]


def test_only_what_is_needed_is_read():
    def endless():
        number = 0
        while True:
            assert number < 12
            yield str(number)
            number += 1

    stream = windows(endless(), size=4)
    assert next(stream).lines[-1] == "3" and next(stream).lines[-1] == "7"


@pytest.mark.parametrize(
    "beside, said", [(["a"], "x has only 1 line;"), (["a"] * 3, "more than 2")]
)
def test_other_files_have_as_many_lines(beside, said):
    with pytest.raises(UserError, match=said):
        list(windows(["1", "2"], {"x": beside}))


def test_the_digest_is_that_of_all_lines():
    windows_of = (
        Window(0, ["a", "b"]),
        Window(0, ["a", "b "]),
        Window(0, ["a"], {"x": ["b"]}),
        Window(0, ["a"], {"x": ["c"]}),
        Window(0, ["a", "", "b"]),
        Window(0, ["a"], {"x": ["b"], "y": ["c"]}),
        Window(0, ["a"], {"y": ["c"], "x": ["b"]}),
    )
    assert len({window.digest for window in windows_of}) == 7
    assert Window(7, ["a", "b"]).digest == windows_of[0].digest
