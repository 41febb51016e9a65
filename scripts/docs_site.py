# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The part of the documents' site that mkdocs.yml cannot say; MkDocs calls the functions whose names begin with `on_`.

The pages in docs/ are written for the repository, so that their links also lead to files outside docs/. The site takes some of
these files in as pages (PAGES_OUTSIDE). A link to any other file becomes a link to the repository, when the site knows its
address (CUECAST_REPOSITORY_FILES), and the name of the file otherwise.
"""

import logging
import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files outside docs/ that are pages of the site, by the names of the pages.
PAGES_OUTSIDE = {
    "about/changes.md": "CHANGELOG.md",
    "about/contributing.md": "CONTRIBUTING.md",
    "about/security.md": "SECURITY.md",
    "deploy/container.md": "deploy/container/README.md",
    "deploy/fronts.md": "deploy/fronts/README.md",
    "deploy/grafana.md": "deploy/grafana/README.md",
    "deploy/kubernetes.md": "deploy/kubernetes/README.md",
    "deploy/nats.md": "deploy/nats/README.md",
    "deploy/prometheus.md": "deploy/prometheus/README.md",
}
LIBRARIES_PAGE = "reference/libraries.md"
STYLE_SHEET = "assets/site.css"
# Code, which is left alone, or a link with its text, its target and its anchor. Links with a host have a colon.
CODE_OR_LINK = re.compile(r"^ *```.*?^ *```$|(?<!!)\[((?:`[^`\n]*`|[^\[\]`])*)\]\(([^)#:\s]+)(#[^)\s]*)?\)|`[^`\n]+`", re.M | re.S)
# Code, or the place between a line of text and a list.
CODE_OR_LIST = re.compile(r"^ *```.*?^ *```$|^(?!\s|#|>|\||(?:[-*]|\d+\.) )[^\n]+\n(?=(?:[-*]|1\.) )", re.M | re.S)

log = logging.getLogger("mkdocs.hooks.docs_site")


def all_libraries():
    """The names of the libraries that have a catalog of articles."""
    return sorted(catalog.parent.name for catalog in (ROOT / "Sources").glob("*/*.docc"))


def libraries_built(config):
    """The names of the libraries whose documentation is part of the site; an empty variable is None here."""
    return (config.extra["libraries"] or "").split()


def relative(target, page):
    """The link from one page of the site to another file of it."""
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def file_of_page(page):
    """The path in the repository of a page's file."""
    return PAGES_OUTSIDE.get(page, f"docs/{page}")


def page_of_file(path):
    """The page that a file or folder of the repository has in the site, or None."""
    for each in (path, f"{path}/README.md"):
        for page, file in PAGES_OUTSIDE.items():
            if file == each:
                return page
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def page_of_library(library, article=None):
    """The path in the site of a library's documentation; DocC knows its pages by their folders."""
    return f"libraries/{library}/documentation/{library.lower()}/{article.lower() if article else ''}"


def rewrite_links(markdown, page, repository_files="", libraries=()):
    """The text of a page with the links that the site needs.

    Args:
        markdown: the text, as it is in the repository.
        page: the page's name in the site.
        repository_files: the address of the repository's files, or nothing.
        libraries: the libraries whose documentation is part of the site.
    """
    folder = posixpath.dirname(file_of_page(page))

    def rewrite(match):
        text, target, anchor = match[1], match[2], match[3] or ""
        if target is None:
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        if not (ROOT / path).exists():
            log.warning("%s: the link to %s leads nowhere", file_of_page(page), target)
        other = page_of_file(path)
        if other is not None:
            return f"[{text}]({relative(other, page)}{anchor})"
        article = re.fullmatch(r"Sources/(\w+)/\1\.docc/(\w+)\.md", path)
        if article and article[1] in libraries:
            # HTML, because MkDocs looks for the targets of other links, and these come later.
            return f'<a href="{relative(page_of_library(*article.groups()), page)}/">{text}</a>'
        if repository_files:
            return f"[{text}]({repository_files.rstrip('/')}/{path}{anchor})"
        return text if text.strip("`") in (path, target) else f"{text} (`{path}`)"

    return CODE_OR_LINK.sub(rewrite, markdown)


def separate_lists(markdown):
    """The text with an empty line before each list, without which MkDocs reads it as a part of the paragraph above."""
    return CODE_OR_LIST.sub(lambda match: match[0] + "\n" if match[0].endswith("\n") else match[0], markdown)


def libraries_page(libraries):
    """The page that leads to the documentation of the libraries."""
    rows = []
    for library in all_libraries():
        link = f'<a href="{relative(page_of_library(library), LIBRARIES_PAGE)}/">{library}</a>'
        rows.append(f"| {link if library in libraries else f'`{library}` (not part of this build)'} | `Sources/{library}` |")
    return "\n".join([
        "# Swift libraries", "", "The types, functions and articles of the public Swift libraries, built by DocC.", "",
        "| library | source |", "| --- | --- |", *rows, ""])


def on_config(config):
    """Adds the decisions to the navigation."""
    numbers = sorted(file.name for file in (ROOT / "docs/internals/decisions").glob("[0-9]*.md"))
    for section in config.nav:
        for entry in section.get("Internals", []):
            if isinstance(entry, dict) and "Decisions" in entry:
                entry["Decisions"] += [f"internals/decisions/{name}" for name in numbers]


def on_files(files, config):
    """Adds the pages and the style sheet from outside docs/."""
    from mkdocs.structure.files import File

    for page, file in PAGES_OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / file).read_text(encoding="utf-8")))
    files.append(File.generated(config, LIBRARIES_PAGE, content=libraries_page(libraries_built(config))))
    files.append(File.generated(config, STYLE_SHEET, abs_src_path=str(ROOT / "scripts/docs_site.css")))
    return files


def on_page_markdown(markdown, page, config, files):
    """Makes of a page's text what the site needs, and lists pages for users before internals in the results of a search."""
    if page.file.src_uri.startswith(("internals/", "about/")):
        page.meta.setdefault("search", {"boost": 0.3})
    if page.file.src_uri == LIBRARIES_PAGE:
        return markdown
    return rewrite_links(separate_lists(markdown), page.file.src_uri, config.extra["repository_files"] or "", libraries_built(config))
