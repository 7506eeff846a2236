"""What is kept of completions, and what is forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from typstai.domain.completion_cache import MAX_ENTRIES, CompletionCache, Site

SITE = Site(bufnr=1, block_row0=4, before="before", after="after")


def site(**other: object) -> Site:
    fields = {"bufnr": 1, "block_row0": 4, "before": "before", "after": "after"}
    return Site(**(fields | other))  # type: ignore[arg-type]


def test_a_completion_is_found_at_its_own_place_only() -> None:
    cache = CompletionCache()
    cache.put(SITE, "The cat", " sat.")
    assert cache.get(SITE, "The cat") == " sat."
    for other in ({"bufnr": 2}, {"block_row0": 5}, {"before": ""}, {"after": "x"}):
        assert cache.get(site(**other), "The cat") is None
    assert cache.get(SITE, "A cat") is None


def test_what_follows_is_known_as_long_as_the_completion_is_typed() -> None:
    cache = CompletionCache()
    cache.put(SITE, "The cat", " sat.")
    assert cache.get(SITE, "The cat sa") == "t."
    assert cache.get(SITE, "The cat so") is None
    assert cache.get(SITE, "The cat sat.") is None
    assert cache.get(SITE, "The ca") is None


def test_that_nothing_follows_is_known_too() -> None:
    cache = CompletionCache()
    cache.put(SITE, "The end.", "")
    assert cache.get(SITE, "The end.") == ""
    assert cache.get(SITE, "The end. ") is None


def test_the_least_recently_used_goes_first() -> None:
    cache = CompletionCache(max_entries=2)
    cache.put(SITE, "one", "1")
    cache.put(SITE, "two", "2")
    assert cache.get(SITE, "one") == "1"
    cache.put(SITE, "three", "3")
    assert cache.get(SITE, "two") is None
    assert cache.get(SITE, "one") == "1"
    assert cache.get(SITE, "three") == "3"


@given(st.lists(st.text(max_size=3), max_size=3 * MAX_ENTRIES))
def test_it_never_outgrows_its_bound(prefixes: list[str]) -> None:
    cache = CompletionCache()
    for prefix in prefixes:
        cache.put(SITE, prefix, "x")
    assert len(cache) == min(MAX_ENTRIES, len(set(prefixes)))
