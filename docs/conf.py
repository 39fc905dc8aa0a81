"""Settings of the site; `python docs/build.py` builds it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import fastcmp
from fastcmp.core.records import Record

project = "fastcmp"
author = "the authors of fastcmp"
release = version = fastcmp.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_static", "_templates", "**.ipynb_checkpoints"]
templates_path = ["_templates"]

# ---------------------------------------------------------------- pages
myst_enable_extensions = [
    "attrs_inline",
    "colon_fence",
    "deflist",
    "dollarmath",
    "fieldlist",
]
myst_heading_anchors = 4
nb_execution_mode = "auto"  # a notebook without its outputs is run
nb_execution_raise_on_error = True
suppress_warnings = [
    "myst.header",  # pages of studies begin with the heading that tables have
]

# ---------------------------------------------------------------- reference
default_role = "autolink"
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say what is taken
autodoc_member_order = "bysource"
maximum_signature_line_length = 88
numpydoc_show_class_members = False

# ---------------------------------------------------------------- code
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

# ---------------------------------------------------------------- look
html_theme = "pydata_sphinx_theme"
html_title = "fastcmp"
html_static_path = ["_static"]
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_depth": 2,
    "show_nav_level": 1,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}


def _show_python_functions() -> None:
    """Put the functions that are compiled in the place of numba's objects."""
    kernels = import_module("fastcmp.kernels")
    for name in kernels.__all__:
        value = getattr(kernels, name)
        vars(kernels)[name] = getattr(value, "py_func", value)


def _hide_signature(
    _app: Any, what: str, _name: str, value: Any, *_: Any
) -> tuple[str, None] | None:
    """Hide how records are made: functions return them."""
    is_record = what == "class" and issubclass(value, Record)
    return ("", None) if is_record else None


def setup(app: Any) -> None:
    """Join what Sphinx calls."""
    _show_python_functions()
    app.connect("autodoc-process-signature", _hide_signature)
