"""The version of the package, alone in a module so that everything can import it."""

__version__ = "0.1.0"
