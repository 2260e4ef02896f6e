"""Text of a PDF that a reader cannot see.

It has no ink, has the colour behind it, is covered, is clipped, is outside the page or is tiny.
"""

import math
from collections.abc import Iterator
from ctypes import c_float, c_int, c_uint, c_ushort
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from esrag.loading.rules import RECTANGLE

Box = tuple[float, float, float, float]  # left, bottom, right, top, in points
Colour = tuple[int, int, int]
Point = tuple[float, float]
Matrix = tuple[float, float, float, float, float, float]
_Covers = npt.NDArray[np.float64]  # a row for each opaque area: its order and its box

_NO_INK = 3  # the render mode of text that is neither filled nor stroked
_FILLED = (0, 4)
_WHITE: Colour = (255, 255, 255)
_SAME = 10  # of 255: the eye does not tell such colours apart
_OPAQUE = 250
_MIN_SIZE = 1.0  # points
_THIN = 3.0  # points: a line, which is not a background
_SCANNED = 0.5  # of a page: with this share of images, text without ink comes from OCR
_MAX_DEPTH = 8  # of forms in forms
_CORNERS = 4
_EXACT = 0.1  # points
_SLACK = 1.0  # points that covered text may stand out by
_MAX_SEGMENTS = 100  # of a clip path that is looked at
_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Text:
    """A text object: where it was painted, by what, and after how many others."""

    handle: Any
    form: Any  # that holds it, or None
    order: int
    box: Box
    colour: Colour | None  # None where it is not simply filled
    is_inked: bool
    is_cut_off: bool  # by its clip path, or by being tiny


@dataclass(frozen=True, slots=True)
class _Area:
    """Paint over an area; `colour` is None if it is not a single colour.

    Nothing below can be seen inside the box `opaque`.
    """

    order: int
    box: Box
    colour: Colour | None
    is_image: bool = False
    opaque: Box | None = None


def remove_invisible(page: Any) -> int:
    """Remove invisible text from a page in memory, and return how many characters it held.

    Text without ink stays where images cover most of the page: it is what OCR read in them.
    """
    hidden = _find_invisible(page)
    if not hidden:
        return 0

    characters = page.get_textpage()
    counts = [_count_characters(characters, text.handle) for text in hidden]
    characters.close()
    for text, count in zip(hidden, counts, strict=True):
        if count:  # blanks hide nothing and part words
            _remove(page, text)
    return sum(counts)


def _find_invisible(page: Any) -> list[_Text]:
    """Return the invisible texts of a page."""
    texts, areas = _objects(page)
    if not texts:
        return []

    visible = page.get_bbox()  # unlike the crop box of pdfium also where the page inherits it
    is_scanned = _share_of_images(areas, visible) >= _SCANNED
    covers = _covers(areas)
    return [
        text for text in texts if _is_invisible(text, areas, covers, visible, is_scanned=is_scanned)
    ]


def _remove(page: Any, text: _Text) -> None:
    """Remove a text object from its page or form, and free it."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    if text.form is None:
        pdfium.FPDFPage_RemoveObject(page, text.handle)
    else:
        pdfium.FPDFFormObj_RemoveObject(text.form, text.handle)
    pdfium.FPDFPageObj_Destroy(text.handle)


def _is_invisible(
    text: _Text, areas: list[_Area], covers: _Covers, visible: Box, *, is_scanned: bool
) -> bool:
    """Return whether the text is invisible."""
    if text.is_cut_off or not _overlap(text.box, visible):
        return True
    if not text.is_inked:
        return not is_scanned
    return _is_covered(text, covers) or _same(text.colour, _behind(text, areas))


def _covers(areas: list[_Area]) -> _Covers:
    """Return the opaque areas in the order of painting."""
    rows = [(area.order, *area.opaque) for area in areas if area.opaque]
    return np.array(rows, dtype=np.float64).reshape(-1, 5)


def _is_covered(text: _Text, covers: _Covers) -> bool:
    """Return whether a single area that was painted later covers all of the text."""
    later = covers[np.searchsorted(covers[:, 0], text.order) :]
    if not len(later):
        return False

    _, left, bottom, right, top = later.T
    is_inside = (
        (left <= text.box[0] + _SLACK)
        & (bottom <= text.box[1] + _SLACK)
        & (right >= text.box[2] - _SLACK)
        & (top >= text.box[3] - _SLACK)
    )
    return bool(is_inside.any())


def _behind(text: _Text, areas: list[_Area]) -> Colour | None:
    """Return the background colour of a text, or None if it is not a single colour."""
    x, y = (text.box[0] + text.box[2]) / 2, (text.box[1] + text.box[3]) / 2
    for area in reversed(areas):
        left, bottom, right, top = area.box
        if area.order < text.order and left <= x <= right and bottom <= y <= top:
            return area.colour
    return _WHITE


def _share_of_images(areas: list[_Area], visible: Box) -> float:
    """Return the share of the page that images cover; images on top of each other count each."""
    images = sum(_size(_intersection(area.box, visible)) for area in areas if area.is_image)
    return images / max(1.0, _size(visible))


def _objects(page: Any) -> tuple[list[_Text], list[_Area]]:
    """Return the texts of a page and what is painted over an area, in the order of painting."""
    import pypdfium2.raw as pdfium

    texts: list[_Text] = []
    areas: list[_Area] = []
    objects = _walk(page.raw, None, _IDENTITY, 0)
    for order, (handle, form, matrix, is_whole) in enumerate(objects):
        kind = pdfium.FPDFPageObj_GetType(handle)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            texts.append(_text(handle, form, order, matrix))
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            areas += _path(handle, order, matrix, is_whole=is_whole)
        else:
            is_image = kind == pdfium.FPDF_PAGEOBJ_IMAGE
            box = _place(_bounds(handle), matrix)
            areas.append(_Area(order=order, box=box, colour=None, is_image=is_image))
    return texts, areas


def _walk(
    container: Any, form: Any, matrix: Matrix, depth: int, *, is_whole: bool = True
) -> Iterator[tuple[Any, Any, Matrix, bool]]:
    """Yield the objects of a page or a form, with those of forms in it, and their matrices.

    The last value is false inside a form that is clipped or translucent.
    """
    import pypdfium2.raw as pdfium

    count, get = (
        (pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject)
        if form is None
        else (pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject)
    )
    for index in range(count(container)):
        handle = get(container, index)
        if pdfium.FPDFPageObj_GetType(handle) != pdfium.FPDF_PAGEOBJ_FORM:
            yield handle, form, matrix, is_whole
        elif depth < _MAX_DEPTH:
            inner = _combine(_matrix(handle), matrix)
            is_clipped = next(_clips(handle), None) is not None
            is_cut = is_clipped or pdfium.FPDFPageObj_HasTransparency(handle)
            yield from _walk(handle, handle, inner, depth + 1, is_whole=is_whole and not is_cut)


def _text(handle: Any, form: Any, order: int, matrix: Matrix) -> _Text:
    import pypdfium2.raw as pdfium

    mode = pdfium.FPDFTextObj_GetTextRenderMode(handle)
    box = _bounds(handle)
    colour, alpha = _fill(handle)
    return _Text(
        handle,
        form,
        order,
        box=_place(box, matrix),
        colour=colour if mode in _FILLED else None,
        is_inked=mode != _NO_INK and (alpha > 0 or mode not in _FILLED),
        is_cut_off=_is_clipped(handle, box) or _is_tiny(handle, box, matrix),
    )


def _path(handle: Any, order: int, matrix: Matrix, *, is_whole: bool) -> Iterator[_Area]:
    """Yield the area that a path fills; lines fill none."""
    import pypdfium2.raw as pdfium

    mode, stroke = c_int(), c_int()
    pdfium.FPDFPath_GetDrawMode(handle, mode, stroke)
    bounds = _bounds(handle)
    box = _place(bounds, matrix) if mode.value else (0.0, 0.0, 0.0, 0.0)
    if min(box[2] - box[0], box[3] - box[1]) < _THIN:
        return

    colour, alpha = _fill(handle)
    count = pdfium.FPDFPath_CountSegments(handle)
    is_plain = alpha >= _OPAQUE and count in RECTANGLE
    if not is_plain or pdfium.FPDFPageObj_HasTransparency(handle):
        colour = None
    is_opaque = colour is not None and is_whole and _is_rectangle(handle, count, matrix)
    opaque = _find_unclipped(handle, bounds, matrix) if is_opaque else None
    yield _Area(order, box, colour, opaque=opaque)


def _is_rectangle(handle: Any, count: int, matrix: Matrix) -> bool:
    """Return whether a path is a rectangle with upright sides on the page."""
    import pypdfium2.raw as pdfium

    points = [_point(pdfium.FPDFPath_GetPathSegment(handle, index)) for index in range(count)]
    return _are_corners(_move(points, _combine(_matrix(handle), matrix)))


def _find_unclipped(handle: Any, box: Box, matrix: Matrix) -> Box | None:
    """Return the part of an object that its clip paths leave, or None if it is not a rectangle."""
    for points in _clips(handle):
        if not _are_corners(_move(points, matrix)):
            return None
        box = _intersection(box, _around(points))
    return _place(box, matrix) if _size(box) else None


def _are_corners(points: list[Point]) -> bool:
    """Return whether points are the four corners of an upright rectangle."""
    if not points:
        return False
    left, bottom, right, top = _around(points)
    corners = {(x - left < right - x, y - bottom < top - y) for x, y in points}
    is_upright = all(
        min(x - left, right - x) < _EXACT and min(y - bottom, top - y) < _EXACT for x, y in points
    )
    return is_upright and len(corners) == _CORNERS


def _is_tiny(handle: Any, box: Box, matrix: Matrix) -> bool:
    """Return whether the letters are less than a point high; so is a full stop."""
    import pypdfium2.raw as pdfium

    if _height(_place(box, matrix)) >= _MIN_SIZE:
        return False
    size = c_float()
    pdfium.FPDFTextObj_GetFontSize(handle, size)
    whole = _combine(_matrix(handle), matrix)
    return abs(size.value) * math.hypot(whole[2], whole[3]) < _MIN_SIZE


def _is_clipped(handle: Any, box: Box) -> bool:
    """Return whether all of the text is outside its clip path."""
    return any(points and not _overlap(box, _around(points)) for points in _clips(handle))


def _clips(handle: Any) -> Iterator[list[Point]]:
    """Yield the points of each clip path of an object; none for a path with too many."""
    import pypdfium2.raw as pdfium

    clip = pdfium.FPDFPageObj_GetClipPath(handle)
    for path in range(pdfium.FPDFClipPath_CountPaths(clip) if clip else 0):
        count = pdfium.FPDFClipPath_CountPathSegments(clip, path)
        segments = range(count if 0 < count <= _MAX_SEGMENTS else 0)
        yield [_point(pdfium.FPDFClipPath_GetPathSegment(clip, path, i)) for i in segments]


def _point(segment: Any) -> Point:
    import pypdfium2.raw as pdfium

    x, y = c_float(), c_float()
    pdfium.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value


def _count_characters(page: Any, handle: Any) -> int:
    """Return how many characters a text object has, without white space."""
    import pypdfium2.raw as pdfium

    # In bytes of UTF-16, the NUL at its end among them.
    size = pdfium.FPDFTextObj_GetText(handle, page, None, 0)
    buffer = (c_ushort * (size // 2 + 1))()
    pdfium.FPDFTextObj_GetText(handle, page, buffer, size)
    return sum(not chr(unit).isspace() for unit in buffer if unit)


def _fill(handle: Any) -> tuple[Colour | None, int]:
    """Return the colour that fills an object, None for a pattern, and its opacity from 0 to 255."""
    import pypdfium2.raw as pdfium

    red, green, blue, alpha = c_uint(), c_uint(), c_uint(), c_uint()
    if not pdfium.FPDFPageObj_GetFillColor(handle, red, green, blue, alpha):
        return None, 255
    return (red.value, green.value, blue.value), alpha.value


def _bounds(handle: Any) -> Box:
    import pypdfium2.raw as pdfium

    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    pdfium.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
    return left.value, bottom.value, right.value, top.value


def _matrix(handle: Any) -> Matrix:
    import pypdfium2.raw as pdfium

    found = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(handle, found)
    return found.a, found.b, found.c, found.d, found.e, found.f


def _combine(inner: Matrix, outer: Matrix) -> Matrix:
    """Return the matrix that applies the inner one first."""
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (
        a * p + b * r,
        a * q + b * s,
        c * p + d * r,
        c * q + d * s,
        e * p + f * r + t,
        e * q + f * s + u,
    )


def _place(box: Box, matrix: Matrix) -> Box:
    """Return the bounding box of a box that a matrix moved."""
    if matrix == _IDENTITY:
        return box
    return _around(_move([(x, y) for x in box[::2] for y in box[1::2]], matrix))


def _move(points: list[Point], matrix: Matrix) -> list[Point]:
    a, b, c, d, e, f = matrix
    return [(a * x + c * y + e, b * x + d * y + f) for x, y in points]


def _around(points: list[Point]) -> Box:
    """Return the bounding box of points."""
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _intersection(one: Box, other: Box) -> Box:
    return (
        max(one[0], other[0]),
        max(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
    )


def _overlap(one: Box, other: Box) -> bool:
    left, bottom, right, top = _intersection(one, other)
    return left <= right and bottom <= top


def _size(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _height(box: Box) -> float:
    return box[3] - box[1]


def _same(one: Colour | None, other: Colour | None) -> bool:
    if one is None or other is None:
        return False
    return all(abs(a - b) <= _SAME for a, b in zip(one, other, strict=True))
