# SPDX-License-Identifier: MIT
"""Tables as HTML for notebooks, and as frames of pandas.

Nothing here is for users of the package.
"""
import html
from typing import Any, Iterable, List, Sequence


def number(value: Any) -> str:
    """Returns a count as reports show it; a count that there is not is a dash."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]],
          notes: Sequence[str] = ()) -> str:
    """Returns a table whose numbers stand at the right. All texts are escaped."""
    parts: List[str] = ["<div><table>", f"<caption>{html.escape(caption)}</caption>",
                        "<thead><tr>"]
    parts += [f"<th>{html.escape(word)}</th>" for word in head]
    parts.append("</tr></thead><tbody>")
    for row in rows:
        parts.append("<tr>")
        for value in row:
            side = "left" if isinstance(value, str) else "right"
            parts.append(f'<td style="text-align: {side}">{html.escape(number(value))}</td>')
        parts.append("</tr>")
    parts.append("</tbody></table>")
    parts += [f"<div>{html.escape(note)}</div>" for note in notes]
    parts.append("</div>")
    return "".join(parts)


def frame(rows: Sequence[Any], columns: Sequence[str]) -> Any:
    """Returns a pandas.DataFrame. ImportError, with what would help, without pandas."""
    try:
        import pandas  # type: ignore[import]
    except ImportError:
        raise ImportError("a frame needs pandas, which is not installed: "
                          "apt install python3-pandas, or pip install pandas") from None
    return pandas.DataFrame(list(rows), columns=list(columns))
