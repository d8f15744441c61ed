"""Pages in headless Chromium: what a user sees, hears of in the console, and what is loaded."""

from __future__ import annotations

import base64
import json
import pathlib
import shutil
from collections.abc import Generator
from typing import Any

import pytest

DESKTOP, PHONE = (1280, 900), (390, 844)
# Debian's names, and those of the builds on GitHub's machines.
BROWSERS, DRIVERS = ("chromium", "google-chrome", "chromium-browser"), ("chromedriver",)


class Browser:
    """A browser with one page open.

    Attributes:
        driver: selenium's.
    """

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: pathlib.Path, size: tuple[int, int] = DESKTOP) -> None:
        """Open a page that has kept nothing of earlier ones, and forget earlier messages."""
        width, height = size
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE},
        )
        # A page without it is told of no focus while another browser runs.
        self.driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        self.prefer("light")
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        self.driver.execute_script("try { localStorage.clear() } catch {}")

    def prefer(self, scheme: str) -> None:
        """Let the system prefer a "light" or "dark" colour scheme."""
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )
        # Pages are told before the next frame is drawn.
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"
        )

    def run(self, script: str, *arguments: Any) -> Any:
        """Return the result of a script."""
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys one after the other; the element with the focus receives them."""
        from selenium.webdriver.common.action_chains import ActionChains

        chain = ActionChains(self.driver)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def messages(self) -> list[str]:
        """Return the messages of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return what was loaded since the last call, without the page itself and data: URLs."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        own = self.driver.current_url.partition("#")[0]
        return [url for url in found if url.partition("#")[0] != own and url[:5] != "data:"]

    def is_quiet(self) -> bool:
        """Return whether the page says nothing in the console and loads nothing."""
        messages, requests = self.messages(), self.requests()
        assert not messages, messages
        assert not requests, requests
        return True

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        root = "document.documentElement"
        return int(self.run(f"return {root}.scrollWidth - {root}.clientWidth"))

    def screenshot(self, path: pathlib.Path, *, whole: bool = False) -> None:
        """Save what is seen, or the whole page, as PNG."""
        found = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": whole}
        )
        path.write_bytes(base64.b64decode(found["data"]))


def start_browser() -> Generator[Browser, None, None]:
    """Yield a browser; skip the test if there is none on this machine."""
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver_path = next(filter(None, map(shutil.which, DRIVERS)), None)
    if not (binary and driver_path):
        pytest.skip("neither Chromium nor Chrome with its driver is installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
