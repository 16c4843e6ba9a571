"""The documentation site, built by `make docs`. The source is the repository, so that links work there as well."""

import os
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))
# Programs that the tests have compiled are not compiled again; see conftest.py.
PROGRAMS = ROOT / ".pytest_cache" / "programs"
os.environ.setdefault("METALIC_CACHE", str(PROGRAMS))
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(PROGRAMS / "programs"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")
os.environ.setdefault("PYTHONPATH", str(ROOT / "src"))  # for the kernel of the notebook

import metalic  # noqa: E402

project, author, copyright = "METALIC", "the METALIC authors", "the METALIC authors"
version = release = metalic.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "results/*.md", "results/*/*.md", "results/*/*/*.md", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = [
    "docs/_static",
    "docs/_templates",
    "docs/gallery/*.ipynb",
    "docs/gallery/*.py",
    "**/.venv",
    "build",
    "src",
    "tests",
]

html_theme = "furo"
html_title = f"METALIC {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
default_role = "literal"
html_show_sphinx = False
html_copy_source = False
html_additional_pages = {"index": "start.html"}  # the front page is docs/index.html
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "build" / "notebooks")
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True

autosummary_generate = True
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ("matplotlib",),
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 0,
    "write_computation_times": False,  # that page loads scripts from elsewhere
    "plot_gallery": os.environ.get("GALLERY", "1") == "1",
    "abort_on_example_error": True,
    "show_api_usage": False,
    "remove_config_comments": True,
    "default_thumb_file": None,
}
suppress_warnings = ["config.cache", "myst.header"]  # settings of the gallery; pages of results begin at level 2
warnings.filterwarnings("ignore", message=".*non-interactive.*")


CONTENTS = {
    "Start here": ["installing", "your-first-family", "your-first-study", "notebook", "gallery/index"],
    "How to": [
        "my-solve-failed",
        "choosing",
        "reading-off",
        "many-members",
        "studies",
        "dashboard",
        "progress",
        "evaluation",
        "sharing-studies",
        "clusters",
        "gpu",
        "from-deepxde",
    ],
    "Explanations": ["method", "gauss-newton", "verdict", "learning", "findings", "benchmarks"],
    "Reference": [
        "api",
        "families",
        "conditions",
        "solver",
        "ledger",
        "reliability",
        "authors-protocol",
        "glossary",
        "../results/README",
    ],
    "Development": ["architecture", "../CONTRIBUTING", "decisions/README", "../CHANGELOG"],
}


def add_contents(app, docname, source):
    """The tables of contents stand here and not in the pages, which are read on other sites as well."""
    if docname == root_doc:
        listed = {page for pages in CONTENTS.values() for page in pages}
        others = sorted(path.stem for path in (ROOT / "docs").glob("*.md") if path.stem not in listed | {"index"})
        contents = CONTENTS | {"How to": [*CONTENTS["How to"], *others]}  # a new page is not lost
        source[0] += "".join(_tree(caption, pages) for caption, pages in contents.items())
    elif docname in ("docs/decisions/README", "results/README"):
        folder = (ROOT / docname).parent
        pages = sorted(str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.md"))
        source[0] += _tree("", [page for page in pages if page != "README"])


def _tree(caption, pages):
    option = f":caption: {caption}\n" if caption else ""
    return f"\n\n```{{toctree}}\n:hidden:\n{option}\n" + "\n".join(pages) + "\n```\n"


def no_sources(app, pagename, templatename, context, doctree):
    """Links 'edit this page' need a host, which this repository does not name."""
    context["page_source_suffix"] = None


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", no_sources)
    app.connect("source-read", add_contents)
