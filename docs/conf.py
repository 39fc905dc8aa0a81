"""Settings of the site; `python docs/build.py` builds it."""

import sys
import warnings
from pathlib import Path

import matplotlib as mpl
from numpydoc.xref import DEFAULT_LINKS

import fastcmp

DOCS = Path(__file__).parent
sys.path += [str(DOCS / "_extensions"), str(DOCS.parent / "tests")]

from public_links import classes  # noqa: E402  # from the path above

project = "fastcmp"
author = "the authors of fastcmp"
release = version = fastcmp.__version__

extensions = [
    "command_line",
    "public_links",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "_extensions",
    "_static",
    "_templates",
    "examples",
    "gallery/*.ipynb",
    "gallery/*.py",
    "reference/generated/mini",
    "sg_execution_times.rst",
    "**/sg_execution_times.rst",
    "**.ipynb_checkpoints",
]
templates_path = ["_templates"]

# ---------------------------------------------------------------- pages
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
nb_execution_mode = "auto"  # a notebook without its outputs is run
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True  # what a notebook writes
smartquotes = False  # a word in quotes is most often an option
suppress_warnings = [
    "config.cache",  # settings hold functions
    "myst.header",  # pages of studies begin with the heading that tables have
]

# ---------------------------------------------------------------- reference
default_role = "autolink"
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say what is taken
autodoc_member_order = "bysource"
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

#: What our pages link elsewhere. The lists of names are kept here, as the first version
#: of Sphinx's format, which is text: nothing is loaded while the site is built.
intersphinx_mapping = {
    project: (address, str(DOCS / "inventories" / f"{project}.inv"))
    for project, address in {
        "matplotlib": "https://matplotlib.org/stable/",
        "numpy": "https://numpy.org/doc/stable/",
        "pandas": "https://pandas.pydata.org/docs/",
        "python": "https://docs.python.org/3/",
        "scikit-learn": "https://scikit-learn.org/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
    }.items()
}

numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but what stands here
numpydoc_xref_aliases = (
    {name: name for name in DEFAULT_LINKS}
    | {name: f":class:`{name} <{full}>`" for name, full in classes().items()}
    | {
        "array-like": ":doc:`array-like </reference/conventions>`",
        "ndarray": ":class:`ndarray <numpy.ndarray>`",
        "Path": ":class:`Path <pathlib.Path>`",
    }
    | {
        name: f":class:`{name}`"
        for name in (
            "matplotlib.axes.Axes",
            "numpy.random.Generator",
            "pandas.DataFrame",
            "pandas.Series",
        )
    }
)
nitpick_ignore = [  # arguments that have the names of packages
    ("py:obj", "counts"),
    ("py:obj", "paired"),
    ("py:obj", "pairwise"),
    ("py:obj", "scores"),
]
nitpick_ignore_regex = [("py:obj", r"mlxtend\..*")]

# ---------------------------------------------------------------- code and pictures
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

mpl.use("agg")
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "capture_repr": (),
    "backreferences_dir": "reference/generated/mini",
    "doc_module": ("fastcmp",),
    "download_all_examples": False,
    "image_srcset": ["2x"],
    "min_reported_time": 1e9,
    "reference_url": {"fastcmp": None},
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": "FileNameSortKey",
}

# ---------------------------------------------------------------- look
html_theme = "pydata_sphinx_theme"
html_title = f"fastcmp {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_sidebars = {name: [] for name in ("index", "start", "which-test", "tutorial")}
html_theme_options = {
    "logo": {
        "text": "fastcmp",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navigation_depth": 3,
    "show_nav_level": 1,
    "show_prev_next": False,
    "show_toc_level": 2,  # the variants of a how-to
    "secondary_sidebar_items": ["page-toc"],
    "search_as_you_type": True,
    "footer_start": ["sphinx-version"],
    "footer_end": ["theme-version"],
}
