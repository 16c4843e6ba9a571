"""The commands, one module each: the function `command` in `commands/NAME.py` is `metalic NAME`.

The application finds them by scanning this folder. A module imports only what is quick to import; JAX and everything
that needs it are imported inside the functions.
"""
