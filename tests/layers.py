"""Reads the imports of the plugin's source and holds them to the table of layers.

Works on the syntax tree, so nothing is imported and conditional imports count too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "typstai"

ANYWHERE = frozenset({"errors", "log"})
"""Importable from every layer; they import the standard library only."""

LAYERS: dict[str, frozenset[str]] = {
    "__init__": frozenset({"plugin"}),
    "plugin": frozenset({"app"}),
    "settings": frozenset({"domain"}),
    "agent": frozenset({"agent", "editor.port", "domain"}),
    "writing": frozenset({"writing", "editor.port", "domain"}),
    "typst": frozenset({"typst", "domain"}),
    "storage": frozenset({"storage", "domain"}),
    "integrations": frozenset({"integrations", "domain"}),
    "local": frozenset({"local"}),
    "editor": frozenset({"editor", "domain"}),
    "editor.port": frozenset({"domain"}),
    "domain": frozenset({"domain"}),
    "errors": frozenset(),
    "log": frozenset(),
}
"""What each layer may import of this package. `app` may import everything."""

LIBRARY_HOMES: dict[str, frozenset[str]] = {
    "pynvim": frozenset({"plugin", "editor.nvim", "editor.bridge"}),
    "httpx": frozenset({"agent.providers", "writing.transport", "integrations"}),
}
"""Libraries that only these modules (and what lies below them) may import."""

STANDARD_ONLY = frozenset({"domain", "errors", "log"})

PURE_LIBRARIES = {"domain": frozenset({"merge3"})}
"""Exceptions to that: small libraries of pure functions, in place of an algorithm of our own."""

PURE_STANDARD = frozenset({
    "__future__", "abc", "base64", "bisect", "collections", "copy", "dataclasses", "decimal",
    "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "html", "itertools",
    "json", "math", "operator", "re", "string", "struct", "textwrap", "types", "typing",
    "unicodedata", "zlib",
})  # fmt: skip
"""The part of the standard library that has no I/O, clock, chance or event loop."""

IMPURE_CALLS = frozenset({"open", "print", "input", "exec", "eval", "__import__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported module: its full dotted name, and where it is imported."""

    module: str
    target: str
    line: int
    lazy: bool
    """True inside a function or below `if TYPE_CHECKING`."""


def violations(package: Path) -> list[str]:
    """Every import (or impure call in the domain) that breaks the table, one line each."""
    found: list[str] = []
    for module, tree, items in _modules(package):
        found += [
            f"{module}:{item.line} imports {item.target}: {reason}"
            for item in items
            if (reason := _refusal(item))
        ]
        found += [f"{module}:{line} calls {name}()" for line, name in _impure(module, tree)]
    return found


def third_party(package: Path) -> set[str]:
    """Top-level names of all imported libraries outside the standard library."""
    tops = {item.target.split(".")[0] for _, _, items in _modules(package) for item in items}
    return tops - sys.stdlib_module_names - {PACKAGE}


def module_name(package: Path, path: Path) -> str:
    """Dotted name below the package; the package itself is `__init__`."""
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def imports(
    module: str, tree: ast.Module, *, is_package: bool, known: Iterable[str]
) -> Iterator[Import]:
    """All imports of a module; names of this package are absolute, from `typstai`."""
    modules = frozenset(known)
    for node, lazy in _walk(tree, lazy=False):
        for target in _targets(module, node, is_package, modules):
            yield Import(module=module, target=target, line=node.lineno, lazy=lazy)


def _modules(package: Path) -> Iterator[tuple[str, ast.Module, list[Import]]]:
    """Name, tree and imports of every module."""
    paths = sorted(package.rglob("*.py"))
    known = {module_name(package, path) for path in paths}
    for path in paths:
        module = module_name(package, path)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        is_package = path.name == "__init__.py"
        yield module, tree, list(imports(module, tree, is_package=is_package, known=known))


def _walk(node: ast.AST, *, lazy: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, lazy
        else:
            yield from _walk(child, lazy=lazy or _is_lazy(child))


def _is_lazy(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _targets(
    module: str, node: ast.Import | ast.ImportFrom, is_package: bool, known: frozenset[str]
) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = _base(module, node, is_package)
    for alias in node.names:
        inner = f"{base}.{alias.name}".removeprefix(f"{PACKAGE}.")
        yield f"{PACKAGE}.{inner}" if inner in known and base.startswith(PACKAGE) else base


def _base(module: str, node: ast.ImportFrom, is_package: bool) -> str:
    """Absolute name of what stands after `from`."""
    if node.level == 0:
        return node.module or ""
    here = [PACKAGE, *(() if module == "__init__" else module.split("."))]
    up = node.level - (1 if is_package else 0)
    if module == "__init__":
        up = node.level - 1
    parts = here[: len(here) - up]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _refusal(item: Import) -> str | None:
    """Why this import is not allowed, or None."""
    top, _, inner = item.target.partition(".")
    if top == PACKAGE:
        return _inner_refusal(item, inner)
    homes = LIBRARY_HOMES.get(top)
    if homes is not None and not any(_within(item.module, home) for home in homes):
        return f"{top} belongs to {', '.join(sorted(homes))}"
    return _outer_refusal(item, top)


def _inner_refusal(item: Import, inner: str) -> str | None:
    if item.module == "plugin" and inner == "app" and not item.lazy:
        return "the app is imported on the first call"
    if _within(item.module, "app") or inner in ANYWHERE:
        return None
    allowed = _allowed(item.module)
    if not any(_within(inner, layer) for layer in allowed):
        return f"allowed are {', '.join(sorted(allowed)) or 'none'}"
    return None


def _outer_refusal(item: Import, top: str) -> str | None:
    layer = item.module.split(".")[0]
    standard = top in sys.stdlib_module_names
    if top in PURE_LIBRARIES.get(layer, ()):
        return None
    if layer in STANDARD_ONLY and not standard:
        return "the standard library only"
    if layer in {"plugin", "__init__"} and not standard and top != "pynvim":
        return "what the host registers may not depend on installed libraries"
    if layer == "domain" and top not in PURE_STANDARD:
        return "the domain has no I/O, clock, chance or event loop"
    return None


def _allowed(module: str) -> frozenset[str]:
    """The table's row for a module: the most exact one."""
    if module in LAYERS:
        return LAYERS[module]
    return LAYERS.get(module.split(".")[0], frozenset())


def _within(module: str, layer: str) -> bool:
    return module == layer or module.startswith(f"{layer}.")


def _impure(module: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    if not _within(module, "domain"):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                yield node.lineno, name
            case _:
                pass
