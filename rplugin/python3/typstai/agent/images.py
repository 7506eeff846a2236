"""Images on their way to a model: read when sent, bounded, and remembered as a thumbnail.

Decoding runs in a thread, because Pillow blocks; Pillow is imported on first use.
"""

from __future__ import annotations

import asyncio
import base64
import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..domain.chat import Picture
from ..domain.preview import PagePreview
from ..errors import TypstAIError
from .providers.base import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Pixels

MAX_IMAGES = 4
MAX_THUMBNAILS = 2
MAX_FILE_BYTES = 50 * 1024 * 1024
MAX_PIXELS = 50_000_000
"""Of the file: a small file may unpack to far more than memory holds."""
LONGEST_SIDE = 1568
"""Models scale larger images down to about this themselves."""
MAX_PNG_BYTES = 3_500_000
"""Four of them are below what a request may hold, and each below what providers take."""
THUMBNAIL_SIDE = 256
MAX_THUMBNAIL_BYTES = 200 * 1024
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_SHRINK = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """An image as it is sent, and what is kept of it."""

    sent: Image
    kept: Picture


class ImageError(TypstAIError):
    """An image cannot be attached; the user takes it off or mends it."""


async def attach(paths: tuple[str, ...], shown_as: tuple[str, ...]) -> tuple[Attached, ...]:
    """The files as they are now, in their order. Raises `ImageError`.

    `shown_as`: what the model and the user read as the path of each.
    """
    check_count(len(paths))
    return await asyncio.to_thread(_attach_all, paths, shown_as)


def check_count(count: int) -> None:
    """Raises `ImageError` for more images and pages than a message takes."""
    if count > MAX_IMAGES:
        raise ImageError(f"A message takes at most {MAX_IMAGES} images; take some off.")


async def attach_page(page: PagePreview, shown: str, *, with_thumbnail: bool) -> Attached:
    """A page that was drawn, within the bounds of an image."""
    return await asyncio.to_thread(_attach_page, page, shown, with_thumbnail)


def _attach_page(page: PagePreview, shown: str, with_thumbnail: bool) -> Attached:
    found = _attached(_open(page.png, shown), shown, with_thumbnail=with_thumbnail)
    return replace(found, kept=replace(found.kept, page=page.number, pages=page.count))


def _attach_all(paths: tuple[str, ...], shown_as: tuple[str, ...]) -> tuple[Attached, ...]:
    return tuple(
        _attached(_open(_read(path, shown), shown), shown, with_thumbnail=position < MAX_THUMBNAILS)
        for position, (path, shown) in enumerate(zip(paths, shown_as, strict=True))
    )


def _attached(pixels: Pixels, shown: str, *, with_thumbnail: bool) -> Attached:
    width, height = pixels.size
    sent = _bounded_png(pixels)
    thumbnail = _thumbnail(pixels) if with_thumbnail else ""
    kept = Picture(path=shown, width=width, height=height, thumbnail=thumbnail)
    return Attached(sent=Image(png=sent), kept=kept)


def _read(path: str, shown: str) -> bytes:
    file = Path(path)
    try:
        if not file.is_file():
            raise ImageError(f"There is no image {shown}; take it off or add it again.")
        if file.stat().st_size > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // (1024 * 1024)
            raise ImageError(f"The image {shown} is larger than {limit} MiB.")
        return file.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ImageError(f"The image {shown} cannot be read: {reason}.") from error


def _open(data: bytes, shown: str) -> Pixels:
    from PIL import Image as pillow
    from PIL import ImageOps

    try:
        with pillow.open(io.BytesIO(data), formats=_FORMATS) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise ImageError(f"The image {shown} has more than {MAX_PIXELS:,} pixels.")
            picture.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
            upright = ImageOps.exif_transpose(picture)
            return upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    except ImageError:
        raise
    except Exception as error:  # decoders raise whatever a damaged file makes them raise
        kinds = ", ".join(_FORMATS)
        raise ImageError(f"The image {shown} is damaged, or none of {kinds}.") from error


def _bounded_png(pixels: Pixels) -> bytes:
    side = LONGEST_SIDE
    while len(png := _png(pixels, side)) > MAX_PNG_BYTES:
        side = int(side * _SHRINK)
    return png


def _thumbnail(pixels: Pixels) -> str:
    png = _png(pixels, THUMBNAIL_SIDE)
    return base64.b64encode(png).decode() if len(png) <= MAX_THUMBNAIL_BYTES else ""


def _png(pixels: Pixels, side: int) -> bytes:
    """The picture as PNG, neither side longer than `side`; never enlarged, no metadata."""
    copy = pixels.copy()
    copy.thumbnail((side, side))
    target = io.BytesIO()
    copy.save(target, "PNG", optimize=side == THUMBNAIL_SIDE)
    return target.getvalue()
