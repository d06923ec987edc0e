#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The site that `make site` makes: site_pages.py BUILD [WORD]

Sphinx builds the site without a warning; each link of its pages leads to a file and a
place there; nothing is asked of the network; the search finds events by their names;
in a browser a narrow window needs no scrolling sideways.
"""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import tallytest as t
from browser import Browser

# Attributes by which a browser fetches without being asked; a link is followed only
# by a click.
FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"),
           ("object", "data"), ("source", "src")}
NARROW = 380

folder = None


def need_generator():
    """Skips where Sphinx, its reader of Markdown or its theme is not installed."""
    sphinx = shutil.which("sphinx-build")
    if sphinx is None or shutil.which("mandoc") is None:
        raise t.Skip("no sphinx-build, or no mandoc")
    first = pathlib.Path(sphinx).read_text().splitlines()[0]
    python = first.removeprefix("#!").split()
    done = t.run(*python, "-c", "import furo, myst_parser")
    if done.returncode != 0:
        raise t.Skip(f"no furo or myst_parser for {sphinx}")


@t.once
def site():
    """Builds the site once; returns its folder and what was said."""
    need_generator()
    out = folder / "site"
    done = t.run(sys.executable, "-B", t.source("scripts/site/gen_site.py"),
                 t.build, out)
    t.equal(done.returncode, 0, done.stderr)
    return out, done.stderr


class Page(html.parser.HTMLParser):
    """The places of a page, its links and what it fetches."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links, self.fetched = set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag, name) == ("a", "name"):
                self.places.add(value)
            elif (tag, name) in FETCHED:
                self.fetched.append(value)
            elif name == "href":
                self.links.append(value)


@t.once
def pages():
    """The pages of the site by path; not the copies that can be downloaded."""
    out, _ = site()
    return {path: Page(path) for path in sorted(out.rglob("*.html"))
            if "_downloads" not in path.parts}


def broken(path, page, link):
    """What is wrong with a link to a place of the site, or nothing."""
    parts = urllib.parse.urlsplit(link)
    target = path
    if parts.path:
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve()
    if not target.is_file() or not target.is_relative_to(site()[0].resolve()):
        return "no such file"
    place = urllib.parse.unquote(parts.fragment)
    # "#" alone is the top of a page.
    if place and target in pages() and place not in pages()[target].places:
        return "no such place"
    return None


@t.named("nothing is left out unnamed, and no warning is given")
def built():
    _, said = site()
    lines = [line for line in said.splitlines() if "no picture" not in line]
    t.equal(lines, [])


@t.named("each link leads to a file of the site and a place in it")
def links():
    wrong = []
    for path, page in pages().items():
        for link in page.links + page.fetched:
            if not re.match(r"[a-z]+:", link):
                found = broken(path, page, link)
                if found:
                    wrong.append(f"{path.relative_to(site()[0])}: {link}: {found}")
    t.equal(wrong, [])


@t.named("no page, style sheet or script asks anything of the network")
def network():
    wrong = [f"{path.name}: {link}" for path, page in pages().items()
             for link in page.fetched if re.match(r"([a-z]+:)?//", link)]
    for path in sorted(site()[0].rglob("*.css")):
        # An address in quotes may be a part of a picture in the sheet itself.
        wrong += [f"{path.name}: {link}" for link in re.findall(
            r"(?:@import\s+|url\()[\"']?((?:https?:|/)[^\"')]*)", path.read_text())]
    t.equal(wrong, [])


@t.named("each event of each machine is in the search's index")
def index():
    text = (site()[0] / "searchindex.js").read_text()
    objects = json.loads(text[text.index("(") + 1:text.rindex(")")])["objects"]
    # What stands before the last dot of a name is said once for all names with it.
    found = {f"{prefix}.{row[4]}" if prefix else row[4]
             for prefix, rows in objects.items() for row in rows}
    listed = json.loads(t.run(t.tally(), "list", "events", "-j").stdout)["events"]
    missing = [f"{e['machine']}: {e['name']}" for e in listed if not found & {
        f"{e['machine']}: {e['name']}", f"{e['machine']} {e['unit']}: {e['name']}"}]
    t.equal((len(found), missing[:10]), (len(listed), []))


@t.named("in a browser: the search finds an event; nothing is missing")
def searched():
    out, _ = site()
    with Browser("--window-size=1300,1000") as b:
        b.open(out / "index.html")
        b.write("input[name=q]", "Dcache_misses")
        b.press("Enter")
        b.wait("document.querySelector('#search-results li a')")
        b.click("#search-results li a")
        t.contains(b.wait("document.querySelector('dt:target').textContent"),
                   "Dcache_misses")
        asked = b.value("performance.getEntriesByType('resource').map(e => e.name)")
        t.equal([name for name in asked if not name.startswith("file:")], [])
        colour = "getComputedStyle(document.body).backgroundColor"
        light = b.value(colour)
        b.dark(True)
        t.equal(b.value(colour) != light, True, "dark where the system is")
        t.equal(b.complaints(), [], "on the console")


@t.named(f"in a window {NARROW} pixels wide no page is wider")
def narrow():
    wide = []
    with Browser() as b:
        b.narrow(NARROW)
        for path in pages():
            b.open(path)
            # The page itself hides what is too wide; tables and code scroll.
            if b.value("""[...document.querySelectorAll(
                    'article p, article li, article dd, article dt')].some(e =>
                    !e.closest('.table-wrapper, pre') &&
                    e.getBoundingClientRect().right > innerWidth + 1)"""):
                wide.append(str(path.relative_to(site()[0])))
        t.equal(b.complaints(), [], "on the console")
    t.equal(wide, [])


@t.named("bad input gets one line that says what is wrong")
def refused():
    need_generator()
    full = folder / "full"
    full.mkdir()
    (full / "letter").write_text("of mine")
    script = t.source("scripts/site/gen_site.py")
    for words, said in [([folder], "make builds them"),
                        ([t.build, full], "is no site, and would be overwritten"),
                        ([], "gen_site.py BUILD [SITE]")]:
        done = t.run(sys.executable, "-B", script, *words)
        t.equal((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        t.contains(done.stderr, said)
    t.equal((full / "letter").read_text(), "of mine")


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
