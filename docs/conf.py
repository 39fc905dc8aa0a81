"""Settings of the site; `python docs/build.py` builds it."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import fastcmp
from fastcmp.core.records import Record

DOCS = Path(__file__).parent
sys.path += [str(DOCS / "_extensions"), str(DOCS.parent / "tests")]

from public_names import MODULES  # noqa: E402  # from the path above

project = "fastcmp"
author = "the authors of fastcmp"
release = version = fastcmp.__version__

extensions = [
    "command_line",
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
toc_object_entries_show_parents = "hide"
smartquotes = False  # a word in quotes is most often an option
numpydoc_show_class_members = False

#: Other projects: their addresses, and the names of theirs that our pages link.
intersphinx_mapping = {
    path.stem: (address, str(path))
    for path, address in (
        (DOCS / "inventories" / f"{name}.inv", address)
        for name, address in {
            "matplotlib": "https://matplotlib.org/stable/",
            "numpy": "https://numpy.org/doc/stable/",
            "pandas": "https://pandas.pydata.org/docs/",
            "python": "https://docs.python.org/3/",
            "scikit-learn": "https://scikit-learn.org/stable/",
            "scipy": "https://docs.scipy.org/doc/scipy/",
        }.items()
    )
}

numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but what stands here
numpydoc_xref_aliases = {
    name: f":class:`{name} <{module}.{name}>`"
    for module in reversed(MODULES)
    for name in import_module(module).__all__
    if inspect.isclass(getattr(import_module(module), name))
} | {
    name: f":class:`{target}`"
    for name, target in {
        "ndarray": "ndarray <numpy.ndarray>",
        "numpy.random.Generator": "numpy.random.Generator",
        "matplotlib.axes.Axes": "matplotlib.axes.Axes",
        "pandas.DataFrame": "pandas.DataFrame",
        "pandas.Series": "pandas.Series",
        "Path": "Path <pathlib.Path>",
    }.items()
}

# ---------------------------------------------------------------- code
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

# ---------------------------------------------------------------- look
html_theme = "pydata_sphinx_theme"
html_title = "fastcmp"
html_static_path = ["_static"]
html_copy_source = False
html_context = {"default_mode": "auto"}
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


def _say_nothing_of_order(
    _app: Any, _what: str, _name: str, _value: Any, _options: Any, lines: list[str]
) -> None:
    """Drop the docstrings that named tuples give their fields."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def setup(app: Any) -> None:
    """Join what Sphinx calls."""
    _show_python_functions()
    app.connect("autodoc-process-signature", _hide_signature)
    app.connect("autodoc-process-docstring", _say_nothing_of_order, priority=100)
