"""Settings of the site; `python docs/build.py` builds it."""

import fastcmp

project = "fastcmp"
author = "the authors of fastcmp"
release = version = fastcmp.__version__

extensions = [
    "myst_nb",
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
