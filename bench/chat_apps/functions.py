"""Six chat pages in a real browser: what more of a program or a setting gives, tried step by step.

`python bench/chat_apps/functions.py [NAME …] [--out FILE]` starts the programs in `functions/` as `run.py` starts the smallest
ones. `functions/trials.yaml` has the steps of each trial: a person's clicks, and what must be seen after them. A function is *yes* if
all steps work, *no* if one fails, and – where the product has nothing to try.
"""

# ruff: noqa: T201  # a script, which prints what it sees

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import run
import yaml
from playwright.sync_api import Browser, Error, sync_playwright

from ellmer_conformance.server.strict_server import StrictServer

TRIALS = yaml.safe_load((run.HERE / "functions" / "trials.yaml").read_text(encoding="utf-8"))
PICTURE = run.ROOT / "docs" / "images" / "marked-message.png"
START = "at the start"
WAIT = 6_000  # milliseconds


class Trial(run.Visit):
    """A page of a product, and the steps of `functions/trials.yaml`."""

    def step(self, line: str) -> None:
        """Does one step. Raises an error if it cannot be done, or if what it wants to see is not there."""
        kind, _, value = line.partition(" ")
        getattr(self, f"_{kind}")(value)

    def _says(self, text: str) -> None:
        self.says(text)
        self.page.wait_for_timeout(4_000)

    def _click(self, selector: str) -> None:
        self.page.locator(selector).first.click(timeout=WAIT)
        self.page.wait_for_timeout(1_000)

    def _dismiss(self, selector: str) -> None:
        self.page.wait_for_timeout(4_000)
        if self.page.locator(selector).count():
            self._click(selector)

    def _hover(self, selector: str) -> None:
        self.page.locator(selector).first.hover(timeout=WAIT)

    def _fill(self, value: str) -> None:
        selector, _, text = value.rpartition(" = ")
        self.page.locator(selector).first.fill(text, timeout=WAIT)

    def _choose(self, value: str) -> None:
        selector, _, option = value.rpartition(" = ")
        self.page.locator(selector).first.select_option(option, timeout=WAIT)

    def _press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.page.wait_for_timeout(1_500)

    def _file(self, selector: str) -> None:
        self.page.locator(selector).first.set_input_files(str(PICTURE), timeout=WAIT)
        self.page.wait_for_timeout(2_000)

    def _download(self, selector: str) -> None:
        with self.page.expect_download(timeout=WAIT) as told:
            self.page.locator(selector).first.click(timeout=WAIT)
        if not told.value.path().stat().st_size:
            raise AssertionError("the file is empty")

    def _seen(self, selector: str) -> None:
        self.page.locator(selector).first.wait_for(timeout=WAIT)

    def _shows(self, text: str) -> None:
        text = text.replace("\\n", "\n")
        if not self.shows(text, 8):
            raise AssertionError(f"{text!r} is not shown")

    def _lacks(self, text: str) -> None:
        self.page.wait_for_timeout(1_500)
        text = text.replace("\\n", "\n")
        if self.shows(text, 0.25):
            raise AssertionError(f"{text!r} is still shown")


def tried(browser: Browser, name: str, base: str, functions: dict[str, dict[str, str]]) -> dict[str, str]:
    """Tries what one product offers, and returns a word for each function."""
    shutil.rmtree(run.BUILD / "stores" / name, ignore_errors=True)
    found = {}
    with run.running(name, base, run.HERE / "functions") as address:
        for function, trials in functions.items():
            steps = trials.get(name)
            found[function] = _outcome(browser, name, address, function, steps) if steps else "–"
    return found


def _outcome(browser: Browser, name: str, address: str, function: str, steps: str) -> str:
    visit = Trial(browser)
    try:
        visit.page.goto(address)
        for step in (TRIALS[START][name] + steps).splitlines():
            visit.step(step)
    except (AssertionError, Error) as error:
        visit.page.screenshot(path=run.BUILD / f"{name} {function}.png")
        print(f"{name}: {function}: {step}: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
        return "no"
    else:
        return "yes"
    finally:
        visit.context.close()


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these of {', '.join(run.PRODUCTS)}")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the functions with this text")
    parser.add_argument("--out", type=Path, help="write the table to a file, too")
    options = parser.parse_args()
    run.BUILD.mkdir(parents=True, exist_ok=True)
    functions = {each: steps for each, steps in TRIALS.items() if options.only in each and each != START}
    with (
        StrictServer(script=run.HERE / "functions" / "answers.yaml") as server,
        sync_playwright() as playwright,
    ):
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=list(run.FLAGS))
        found = {
            name: tried(browser, name, f"{server.origin}/v1", functions)
            for name in options.names or run.PRODUCTS
        }
        browser.close()
    print(text := run.table(found, "tried in a fuller program"))
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
