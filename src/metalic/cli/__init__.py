"""The command line: parse, call the API, print. Nothing heavy is imported before a command needs it."""

from .app import main

__all__ = ["main"]
