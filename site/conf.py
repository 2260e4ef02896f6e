"""The site of `make docs`: the Markdown pages, and the Python API from its docstrings."""

from importlib import metadata

project = "esrag"
release = metadata.version("esrag")
extensions = ["myst_parser", "sphinx.ext.autodoc"]

# The source folder is the repository: README and CHANGELOG are pages too, and all links are as on
# the host's site.
root_doc = "site/index"
include_patterns = ["*.md", "docs/**", "site/*.rst"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"esrag {release}"
html_extra_path = ["index.html"]  # leads from the site's root to site/index.html
html_copy_source = html_show_copyright = False

default_role = "literal"  # docstrings are written in Markdown
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100
# Types of annotations that are not on the site; nothing is fetched to look them up.
nitpick_ignore_regex = [
    ("py:class", r"(collections\.abc|os)\..*|tuple\[(str|~esrag\.records\.Break)"),
    (
        "py:class",
        r"esrag\.(context|engines|evidence|filters|ingesting|models|settings)\..*|esrag\.results\.Step",
    ),
]
