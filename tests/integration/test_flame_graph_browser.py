"""The flame graph's script in a real browser, where one is installed: zoom, search, keys.

The SVG gets a second script that acts as a person would; the browser then prints the document as it has become.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from cli_support import ok
from test_export import ON_CPU, make_store

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed (Debian: apt-get install chromium)")

NAMED = "const named = (n) => [...document.querySelectorAll('.f')].find((g) => g.textContent.startsWith(n));"
CLICK = "const click = (n) => named(n).dispatchEvent(new MouseEvent('click', {bubbles: true}));"
KEY = "const key = (k) => document.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true}));"
FIND = "const find = (p) => { search.value = p; search.dispatchEvent(new Event('input', {bubbles: true})); };"


@pytest.fixture(scope="module")
def svg(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A quarter in a -> <b&"> -> c, a quarter in a -> d, the rest in e -> c."""
    folder = tmp_path_factory.mktemp("browser")
    stacks = ['a|p.py|1|1;<b&">|p.py|2|2;c|p.py|3|3', "a|p.py|1|1;d|p.py|4|4", "e|p.py|5|5;c|p.py|3|3", "e|p.py|5|5"]
    store = make_store(folder, [f"1\tMain\t{ON_CPU}\t{stack}" for stack in stacks * 10])
    return ok("export", "-o", "-", "--store", store)


def after(svg: str, folder: Path, script: str) -> ElementTree.Element:
    path = folder / "graph.svg"
    start = "const search = document.getElementById('search');" + NAMED + CLICK + KEY + FIND
    path.write_text(svg.replace("</script>", f"</script><script><![CDATA[{start}{script}]]></script>"))
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", profile, "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return ElementTree.fromstring(done.stdout[done.stdout.index("<svg") :])


def frames(root: ElementTree.Element) -> dict[str, tuple[set[str], str]]:
    """Classes and width by name."""
    found = {}
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        classes = set(group.get("class", "").split())
        if "f" in classes:
            title, rect, _text = list(group)
            found[(title.text or "").split(" (")[0].split("\n")[0]] = (classes, rect.get("width", ""))
    return found


def text_of(root: ElementTree.Element, name: str) -> str:
    return next("".join(each.itertext()) for each in root.iter() if each.get("id") == name)


def test_a_click_zooms_and_escape_goes_back(svg: str, tmp_path: Path) -> None:
    zoomed = frames(after(svg, tmp_path, "click('d');"))
    assert zoomed["d"] == ({"f"}, "100%")
    assert "outer" in zoomed["a"][0]
    assert "hidden" in zoomed["e"][0]
    back = frames(after(svg, tmp_path, "click('d'); key('Escape');"))
    assert back["d"] == ({"f"}, "25%")
    assert "hidden" not in back["e"][0]


def test_a_search_marks_and_counts_what_matches_once(svg: str, tmp_path: Path) -> None:
    found = after(svg, tmp_path, r"find('^(c|.b&|a) ');")
    assert {name for name, (classes, _) in frames(found).items() if "match" in classes} >= {"a", "c"}
    assert re.sub(r"\s+", " ", text_of(found, "matched")) == "matched: 75.0 %"
    literal = after(svg, tmp_path, "find('(p.py:4');")  # no regular expression: taken as it stands
    assert text_of(literal, "matched") == "matched: 25.0 %"


def test_arrows_walk_and_enter_zooms(svg: str, tmp_path: Path) -> None:
    walked = after(svg, tmp_path, "key('ArrowUp'); key('ArrowRight');")
    assert text_of(walked, "details").startswith("e (p.py:5) · ")
    zoomed = frames(after(svg, tmp_path, "key('ArrowUp'); key('ArrowRight'); key('Enter');"))
    assert zoomed["e"] == ({"f"}, "100%")
