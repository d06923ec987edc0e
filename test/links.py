#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does each link of the pages lead somewhere? links.py ROOT

Every relative link of every page (*.md) names a file, and its #anchor a
heading, an <a id> or a line there. Every page below doc/ has a line in the index,
doc/README.md. The page that a machine of data/ names is there. The site's navigation
names each page of the site once, and links between pages stay in the site.
"""
import functools
import os
import pathlib
import re
import sys
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "scripts" / "site"))
import gen_site  # noqa: E402  (a script, not a package)

LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)


def anchor(heading):
    """The name that a heading has in a link, as GitHub makes it."""
    text = LINK.sub(lambda m: m[0][1:m[0].index("]")], heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


@functools.cache
def lines_of(path):
    return path.read_text(errors="replace").splitlines()


@functools.cache
def text_of(page):
    """A page less its blocks of code."""
    lines = FENCE.sub("", page.read_text()).splitlines()
    return "\n".join(line for line in lines if not line.startswith("    "))


def has_anchor(target, name):
    """Whether a page has such a heading, or a source so many lines."""
    if target.suffix != ".md":
        line = re.fullmatch(r"L(\d+)", name)
        return line and int(line[1]) <= len(lines_of(target))
    text = text_of(target)
    return (name in {anchor(h) for h in re.findall(r"^#+ (.*)$", text, re.M)}
            or f'<a id="{name}"></a>' in text)


def broken(root, page):
    """What is wrong with the links of a page, a line each."""
    for link in LINK.findall(text_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, fragment = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        where = f"{page.relative_to(root)}: {link}"
        if not target.exists():
            yield f"{where}: no such file"
        elif not target.is_relative_to(root):
            yield f"{where}: leaves the tree"
        elif fragment and not has_anchor(target, fragment):
            yield f"{where}: no such heading"


def pages(root):
    for folder, names, files in os.walk(root):
        names[:] = [n for n in names if n[0] != "." and n[:5] != "build"]
        for name in files:
            if name.endswith(".md"):
                yield pathlib.Path(folder, name)


def unlisted(root):
    """Pages below doc/ that the index has no link to."""
    index = root / "doc" / "README.md"
    listed = {(index.parent / link.partition("#")[0]).resolve()
              for link in LINK.findall(text_of(index))}
    for page in sorted((root / "doc").rglob("*.md")):
        if page != index and page not in listed:
            yield f"doc/README.md has no link to {page.relative_to(root)}"


def machine_pages(root):
    """The pages that machines name and that are not there."""
    for path in sorted((root / "data" / "machines").glob("*/machine.toml")):
        page = tomllib.loads(path.read_text()).get("page")
        if page is not None and not (root / page).is_file():
            yield f"{path.relative_to(root)}: page = \"{page}\": no such file"


def site_pages(root):
    """What is wrong with the site's navigation, and the links that lead from its pages
    to a page that it has not."""
    pages = gen_site.pages(root)
    entries = [page for _, those in gen_site.navigation(root) for page in those]
    for page in sorted({*entries, *pages} - {pathlib.Path("README.md")}):
        if entries.count(page) != 1:
            yield f"the site's navigation has {page} {entries.count(page)} times"
        if not (root / page).is_file():
            yield f"the site's navigation has {page}: no such file"
    for page in pages:
        for link in gen_site.LINK.findall(text_of(root / page)):
            target = pathlib.Path(os.path.normpath(page.parent / link))
            if target.suffix == ".md" and ":" not in link and target not in pages:
                yield f"{page}: {link}: no page of the site"
    for _, title, page, _ in gen_site.PICTURES:
        if pathlib.Path("doc", f"{page}.md") not in pages:
            yield f"gen_site.py: picture {title!r}: no doc/{page}.md"


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ROOT")
    root = pathlib.Path(sys.argv[1]).resolve()
    wrong = [line for page in sorted(pages(root))
             for line in broken(root, page)]
    wrong += [*unlisted(root), *machine_pages(root), *site_pages(root)]
    print("\n".join(wrong) or "all links lead somewhere")
    sys.exit(bool(wrong))


main()
