"""A reference of Typst written for this project: its data, and the reader of it."""

from .reader import VERSION, Reference

__all__ = ["VERSION", "Reference"]
