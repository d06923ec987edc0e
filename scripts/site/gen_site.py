#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gen_site.py BUILD [SITE]: writes the pages as a site, BUILD/site.

BUILD has tally, its manual pages and the guest programs. The pages of the tree are
taken as they are; the events, the manual pages and the pictures become pages here.
Sphinx makes the site, and a warning of it is an error.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^]]*\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
# A program of the tests, and a text whose words it counts.
PROGRAM = ["./words", "GPL.txt"]
# Name, what is to be seen, its page in doc/, the words behind tally.
PICTURES = [
    ("curve", "The misses of all sizes of a cache, from one run", "curve",
     ["curve", "--clean-env"]),
    ("phases", "What a program does over time", "phases",
     ["phases", "--clean-env", "--interval", "20k"]),
    ("sweep", "One program on two machines, with many sizes of the L1 data cache",
     "sweep",
     ["sweep", "-m", "zen4,skylake", "--set", "l1d.size=4K..64K", "-e",
      "L1-dcache-load-misses"]),
    ("report", "Where it happens: the page of a record", "where",
     ["report", "--html", "report.html"]),
]


def pages(root):
    """The pages of the tree that the site has, as paths from the root."""
    found = [*root.glob("*.md"), *root.glob("doc/**/*.md"),
             *root.glob("interfaces/*/README.md")]
    return sorted(page.relative_to(root) for page in found)


def navigation(root):
    """The pages in the order of doc/README.md's tables, by section: a list of
    titles, each with a list of pages. A folder's README.md comes before the other
    pages of the folder; what the tables do not name comes last."""
    index = Path("doc", "README.md")
    known, seen = set(pages(root)), {Path("README.md"), index}
    sections = []
    for line in (root / index).read_text().splitlines():
        if line.startswith("#"):
            sections.append((line.lstrip("# "), []))
        for link in LINK.findall(line):
            page = Path(os.path.normpath(index.parent / link))
            if page in known - seen:
                seen.add(page)
                sections[-1][1].append(page)
    for _, those in sections[1:]:
        for folder in {page.parent for page in those}:
            readme = folder / "README.md"
            for _, others in sections:
                if readme in others:
                    others.remove(readme)
                    those.insert(0, readme)
    sections[0][1].insert(0, index)
    sections.append(("More", sorted(known - seen)))
    return sections


def toctree(entries, caption="", hidden=True):
    """The lines that put pages, paths without suffix, into the navigation."""
    options = [":maxdepth: 1", *[f":caption: {caption}"] * bool(caption),
               *[":hidden:"] * hidden]
    return "\n".join(["", "```{toctree}", *options, "", *entries, "```", ""])


def escaped(text):
    return re.sub(r"([\\*_`|])", r"\\\1", text)


def heading(text, line="="):
    return f"{escaped(text)}\n{line * (len(text) * 2)}\n"


def event_text(event, unit):
    """One event, as a directive with its fields; the unit where two have the name."""
    words = [event["machine"], unit or "-", event["name"], event.get("code", "-"),
             event["fidelity"]]
    lines = [f".. event:: {' '.join(words)}", "", f"   {escaped(event['brief'])}", ""]
    fields = {
        "counts": event.get("counts"), "idle": event.get("reason"),
        "group": ", ".join(f"{key} {event[key]}" for key in ("sl", "mask", "category")
                           if key in event),
        "counters": ", ".join(event.get("counters", [])),
        "also": ", ".join(event["aliases"]), "reference": event["reference"]}
    lines += [f"   :{key}: {escaped(text)}" for key, text in fields.items() if text]
    for mask in event.get("umasks", []):
        said = [mask["brief"] if mask.get("brief") else "",
                mask.get("why") or mask.get("fidelity") or "",
                mask.get("reason") or ""]
        lines.append(f"   :unit mask {mask['pattern']}: **{mask.get('name') or '-'}** "
                     + escaped("; ".join(filter(None, said))))
    return "\n".join([*lines, ""])


def generic_text(row):
    """What stands for one of perf's or PAPI's names."""
    stands = row.get("own") or f"none: {row['reason']}"
    also = f" ({', '.join(row['aliases'])})" if row["aliases"] else ""
    differs = f"; {row['differs']}" if "differs" in row else ""
    return (f"``{row['name']}``\n"
            f"   {escaped(stands + also)}, {row['fidelity']}{escaped(differs)}\n")


def write_events(tally, stage):
    """Writes a page for each machine and returns their names."""
    said = json.loads(tally("list", "events", "-j"))
    machines = json.loads(tally("list", "machines", "-j"))["machines"]
    folder = stage / "events"
    folder.mkdir()
    for machine in machines:
        name = machine["name"]
        events = [e for e in said["events"] if e["machine"] == name]
        generic = [g for g in said["generic"] if g["machine"] == name]
        names = collections.Counter(e["name"] for e in events)
        standing = collections.Counter(e["fidelity"] for e in events)
        row = tomllib.loads(
            (ROOT / "data/machines" / name / "machine.toml").read_text())
        page = row.get("page", "doc/README.md").removesuffix(".md")
        text = [heading(f"Events of {name}"),
                f"{escaped(machine['title'])}: :doc:`/{page}`. {len(events)} events: "
                + ", ".join(f"{n} {s}" for s, n in standing.most_common())
                + ". `What these words mean <../index.html#what-the-marks-mean>`_.\n",
                heading("Events", "-"),
                *(event_text(e, e["unit"] if names[e["name"]] > 1 else "")
                  for e in events),
                heading("Names of perf and PAPI", "-"), *map(generic_text, generic)]
        (folder / f"{name}.rst").write_text("\n".join(text))
    names = [machine["name"] for machine in machines]
    (folder / "index.md").write_text(
        f"# Events\n\nAll {len(said['events'])} events of {len(names)} machines, as "
        "`tally list events -j` has them. The search finds an event by its name.\n"
        + toctree(names, hidden=False))


def write_commands(build, stage):
    """Writes a page for each manual page of the build and the tree."""
    folder = stage / "commands"
    folder.mkdir()
    sources = sorted([*build.glob("man/*.1"), *ROOT.glob("man/*.[0-9]"),
                      *ROOT.glob("interfaces/*/*.1")], key=lambda path: path.stem)
    names = [path.stem for path in sources]
    for path in sources:
        html = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", path],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        html = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", html, flags=re.S)
        html = re.sub(r"(</?h)([12])\b", lambda m: m[1] + str(int(m[2]) + 1), html)
        html = re.sub(r"<b>([\w-]+)</b>\(([13])\)", lambda m: (
            f'<a href="{m[1]}.html">{m[0]}</a>' if m[1] in names else m[0]), html)
        (folder / f"{path.stem}.html").write_text(html)
        (folder / f"{path.stem}.rst").write_text(
            heading(path.stem) + f"\n.. raw:: html\n   :file: {path.stem}.html\n")
    with open(folder / "tally.rst", "a") as file:
        file.write("\n.. toctree::\n   :hidden:\n\n"
                   + "".join(f"   {name}\n" for name in names if name != "tally"))


def draw(build, folder, name, words):
    """Has tally draw a picture, and Chromium the page of a record; returns what is
    missing instead."""
    program = build / "guests/words.x86_64"
    if not program.exists():
        return f"no {program.name}; scripts/build-guests own {build.name}/guests"
    chromium = shutil.which("chromium")
    if name == "report" and chromium is None:
        return "no chromium"
    shutil.copy(program, folder / "words")
    shutil.copy(ROOT / "LICENSES/GPL-2.0-or-later.txt", folder / "GPL.txt")

    def run(*command):
        done = subprocess.run(command, cwd=folder, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"gen_site.py: {' '.join(map(str, command))}: {done.stdout}")

    tally = build / "cli/tally"
    if name != "report":
        run(tally, *words, "--format", "svg", "-o", f"{name}.svg", "--", *PROGRAM)
        return ""
    run(tally, "record", "-q", "-m", "host-model", "-e", "instructions,cache-misses",
        "--", *PROGRAM)
    run(tally, *words)
    with tempfile.TemporaryDirectory() as profile:
        run(chromium, "--headless=new", "--no-sandbox", "--disable-gpu",
            "--hide-scrollbars", "--window-size=1200,900",
            "--virtual-time-budget=5000", f"--user-data-dir={profile}",
            "--screenshot=report.png", (folder / "report.html").as_uri())
    return ""


def write_pictures(build, stage):
    """Writes the page of pictures. What could not be made is named there, and on
    standard error."""
    folder = stage / "pictures"
    folder.mkdir()
    text = ["# Pictures", "", "As tally draws them, made with this site."]
    for name, title, page, words in PICTURES:
        missing = draw(build, folder, name, words)
        if missing:
            print(f"gen_site.py: no picture {name}: {missing}", file=sys.stderr)
        report = name == "report"
        command = " ".join(words if report else [*words, "--", *PROGRAM])
        text += ["", f"## {title}", "", f"    tally {command}", "",
                 f"(left out: {missing})" if missing else
                 f"![{title}]({name}.png)" if report else f"![{title}]({name}.svg)", "",
                 "[The page itself](report.html). " * (report and not missing)
                 + f"More: [the page of {words[0]}](../doc/{page}.md)."]
    (folder / "index.md").write_text("\n".join([*text, ""]))


def stage_pages(stage):
    """Copies the pages, and the files that they lead to. The README is the first
    page and has the navigation."""
    for page in pages(ROOT):
        target = stage / (page if page != Path("README.md") else "index.md")
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / page).read_text()
        target.write_text(text)
        for link in LINK.findall(text):
            file = Path(os.path.normpath(page.parent / link))
            if file.suffix != ".md" and (ROOT / file).is_file():
                (stage / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / file, stage / file)
    with open(stage / "index.md", "a") as file:
        for title, those in navigation(ROOT):
            file.write(toctree([str(p.with_suffix("")) for p in those], title))
        file.write(toctree(["events/index", "Commands <commands/tally>",
                            "pictures/index"], "Reference"))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.splitlines()[0])
    build = Path(sys.argv[1]).resolve()
    site = Path(sys.argv[2]).resolve() if len(sys.argv) == 3 else build / "site"
    for program in ("sphinx-build", "mandoc"):
        if shutil.which(program) is None:
            sys.exit(f"gen_site.py: no {program}; scripts/setup site installs it")
    if not (build / "man/tally.1").exists():
        sys.exit(f"gen_site.py: no tally and no manual pages in {build}; make builds "
                 "them")
    if site.exists() and any(site.iterdir()) and not (site / ".buildinfo").exists():
        sys.exit(f"gen_site.py: {site} is no site, and would be overwritten; name an "
                 "empty folder or a new one")
    stage = build / "site-pages"

    def tally(*words):
        return subprocess.run([build / "cli/tally", *words], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    for folder in (stage, site):
        shutil.rmtree(folder, ignore_errors=True)
    stage.mkdir(parents=True)
    stage_pages(stage)
    write_events(tally, stage)
    write_commands(build, stage)
    write_pictures(build, stage)
    done = subprocess.run(
        ["sphinx-build", "-q", "-j", "2", "-W", "--keep-going", "-b", "html",
         "-c", ROOT / "scripts/site", "-d", stage / ".doctrees", stage, site],
        env=os.environ | {"TALLY_ROOT": str(ROOT), "TALLY_VERSION":
                          tally("--version").split()[-1]})
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
