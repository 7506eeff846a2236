"""typstai.nvim's Python half: a Neovim remote plugin, run in its own host process.

The host imports this module, and a failing import would make the plugin vanish
without a word: only the standard library and pynvim may be imported from here.
"""

from .plugin import TypstAIPlugin

__all__ = ["TypstAIPlugin"]
