"""Times how a page of sentences opens in headless Chromium.

    python benchmarks/open_page.py page.html [--repeats=9]

Opens a page that `t2t-phrase-insights --html` wrote, and waits until it shows its first sentence.
The largest page that the tests make has 60 tokens a side, 6 layers, 8 heads and two models:

    pytest -n 0 tests/reports/test_viewer.py -k opens_quickly --basetemp=pages
    python benchmarks/open_page.py pages/*current/page.html

Prints one line of JSON: the size of the page and the median, the least and the greatest number of
seconds until the first sentence was shown.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import statistics
import sys

from measure import report
from script import run_script

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/support"))

# The time at which the page shows its first sentence, in milliseconds from the start of loading.
_SHOWN = """
const done = arguments[arguments.length - 1];
function look() {
  const viewer = document.getElementById('viewer');
  if (viewer && viewer.dataset.shown === '0') requestAnimationFrame(() => done(performance.now()));
  else setTimeout(look, 1);
}
look();
"""


def main() -> None:
    from browser import start_browser

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=9)
    args = parser.parse_args()
    seconds = []
    with contextlib.closing(start_browser()) as browsers:
        browser = next(browsers)
        for _ in range(args.repeats + 1):
            browser.open(args.page.resolve())
            seconds.append(browser.driver.execute_async_script(_SHOWN) / 1000)
    # The first page also starts the processes of the browser.
    seconds = seconds[1:]
    report(
        benchmark="open_page",
        megabytes=round(args.page.stat().st_size / 1e6, 2),
        seconds=round(statistics.median(seconds), 2),
        least=round(min(seconds), 2),
        greatest=round(max(seconds), 2),
    )


if __name__ == "__main__":
    run_script(main)
