# SPDX-License-Identifier: MIT
"""Settings of Sphinx for the site that gen_site.py makes.

Pages are read as GitHub reads them: [text](page.md#heading). Events are objects of
Sphinx, so that the search leads to an event by its name.
"""
import os
import posixpath
import re
from pathlib import Path

from sphinx import addnodes
from sphinx.util.nodes import make_refnode

project = "tally"
version = release = os.environ.get("TALLY_VERSION", "")
extensions = ["myst_parser"]
myst_heading_anchors = 6
highlight_language = "text"
nitpicky = True

html_theme = "furo"
html_title = f"tally {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
# A summary is fetched from the page, which a browser refuses for local files.
html_show_search_summary = False
html_theme_options = {"top_of_page_button": None}


def event_signature(env, signature, node):
    """Shows "MACHINE UNIT NAME CODE STANDING" ("-" for what is not said) and returns
    the object's name."""
    machine, unit, name, code, standing = signature.split()
    node += addnodes.desc_name(name, name)
    node += addnodes.desc_annotation("", f" {code} {standing}".replace(" -", ""))
    return f"{machine}: {name}" if unit == "-" else f"{machine} {unit}: {name}"


def resolve(app, env, node, content):
    """Returns the link to an <a id> of a page or to the README, which is the first
    page; the text alone where the target is in the tree and is no page."""
    page, _, anchor = node["reftarget"].partition("#")
    target = posixpath.normpath(
        posixpath.join(posixpath.dirname(node["refdoc"]), page)
    ) if page else node["refdoc"] + ".md"
    name = {"README": "index"}.get(target.removesuffix(".md"),
                                   target.removesuffix(".md"))
    if name in env.all_docs:
        headings = env.get_domain("std").anonlabels
        _, place = headings.get(f"{name}.md#{anchor}", (name, anchor))
        return make_refnode(app.builder, node["refdoc"], name, place, content)
    if os.path.exists(os.path.join(os.environ["TALLY_ROOT"], target)):
        return content
    return None


def join_theme(app, error):
    """Puts what a style sheet and a script of the theme import into the two. Debian
    imports the first from a web server's /javascript, and a browser imports no
    script from a local file. Debian's style sheet has also lost the dark colours for a
    system that is dark: those for a reader who chose dark stand for them."""
    if error is not None:
        return
    folder = Path(app.outdir, "_static")
    for name, pattern, place in [
            ("styles/furo.css", r"@import url\(/(javascript/.*?)\);", Path("/usr/share")),
            ("scripts/furo.js", r'import Gumshoe from "(.*?)";', folder / "scripts")]:
        file = folder / name
        file.write_text(re.sub(pattern, lambda m, place=place: (
            (place / m[1]).read_text()), file.read_text()))
    sheet = folder / "styles/furo.css"
    dark = re.search(r'body\[data-theme="dark"\] (\{[^}]*\})', sheet.read_text())
    if dark and "prefers-color-scheme" not in sheet.read_text():
        with open(sheet, "a") as file:
            file.write("@media screen and (prefers-color-scheme: dark) "
                       f'{{ body[data-theme="auto"] {dark[1]} }}\n')


def setup(app):
    app.connect("build-finished", join_theme)
    app.add_object_type("event", "event", parse_node=event_signature)
    app.connect("missing-reference", resolve)
