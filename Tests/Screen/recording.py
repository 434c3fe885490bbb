"""Draws frames of a terminal as an animated picture: SVG with CSS, without a script."""
import html
from itertools import groupby

GLYPH, LINE, SIZE, MARGIN, HEAD = 8.4, 19, 14, 16, 40
# The colors in a dark and in a light window. The names are those of pyte.
COLORS = {
    "text": ("#c0caf5", "#343b58"), "ground": ("#1a1b26", "#f4f5fa"), "head": ("#24283b", "#e1e3ee"), "line": ("#3b4261", "#c4c8da"),
    "faint": ("#7e87ad", "#6b7091"), "red": ("#f7768e", "#b3264a"), "green": ("#9ece6a", "#3f6212"), "brown": ("#e0af68", "#8f5e15"),
    "blue": ("#7aa2f7", "#2e5bb7"), "magenta": ("#bb9af7", "#7847bd"), "cyan": ("#7dcfff", "#0f6d89"), "black": ("#414868", "#5b6078"),
    "white": ("#c0caf5", "#343b58")}
SHORT = {name: "abcdefghijklmnop"[number] for number, name in enumerate(COLORS)}

class Frame:
    """What a terminal shows, for some time."""
    def __init__(self, terminal, caption, seconds):
        self.rows = [tuple(row) for row in terminal.screen.cells()]
        cursor = terminal.screen.cursor
        self.cursor = (cursor.x, cursor.y) if 25 in terminal.modes.on else None
        self.caption, self.seconds = caption, seconds

    def shown(self): return (self.rows, self.cursor, self.caption)

def look(cell):
    """Returns the text's color, the ground's color, and true if the text is bold."""
    plain = SHORT["faint" if cell.italics else "text"]
    color = SHORT.get(cell.fg) or (plain if cell.fg == "default" else "#" + cell.fg)
    ground = SHORT.get(cell.bg) or ("" if cell.bg == "default" else "#" + cell.bg)
    if cell.reverse:
        color, ground = ground or SHORT["ground"], color
    return color, ground, cell.bold

def fill(color): return f'fill="{color}"' if color.startswith("#") else f'class="{color}"'

def row_parts(row):
    """Yields the elements of a row. Each begins at its column, in whatever font."""
    column = 0
    for (color, ground, bold), cells in groupby(row, look):
        cells = list(cells)
        start, column = column, column + len(cells)
        if ground:
            yield f'<rect x="{start * GLYPH:.1f}" width="{len(cells) * GLYPH:.1f}" height="{LINE}" {fill(ground)}/>'
        for is_text, words in groupby(enumerate(cells), lambda each: is_inside(cells, each[0])):
            words = list(words)
            text = "".join(cell.data for _, cell in words)
            if not is_text or not text.strip():
                continue
            x, length = (start + words[0][0]) * GLYPH, len(words) * GLYPH
            weight = ' font-weight="bold"' if bold else ""
            style = "" if color == SHORT["text"] else " " + fill(color)
            yield f'<text x="{x:.1f}" y="14" textLength="{length:.1f}"{style}{weight}>{html.escape(text, quote=False)}</text>'

def is_inside(cells, index):
    """Returns false for spaces at the ends and for two or more in a row."""
    if cells[index].data != " ":
        return True
    beside = [cells[other].data if 0 <= other < len(cells) else " " for other in (index - 1, index + 1)]
    return " " not in beside

def draw(frames, title, still):
    """Yields the lines of the picture. `still` is the number of the frame where nothing can move."""
    columns, rows = len(frames[0].rows[0]), len(frames[0].rows)
    width, height = round(columns * GLYPH) + 2 * MARGIN, rows * LINE + HEAD + MARGIN
    total, names, parts = sum(frame.seconds for frame in frames), {}, []
    for number, frame in enumerate(frames):
        parts.append(f'<g transform="translate(0,{number * height})">')
        caption = html.escape(frame.caption, quote=False)
        parts.append(f'<text x="{width / 2}" y="21" text-anchor="middle" class="{SHORT["faint"]}">{caption}</text>')
        for place, row in enumerate(frame.rows):
            drawn = "".join(row_parts(row))
            if drawn:
                name = names.setdefault(drawn, f"r{len(names)}")
                parts.append(f'<use href="#{name}" y="{HEAD + place * LINE}"/>')
        if frame.cursor:
            x, y = MARGIN + frame.cursor[0] * GLYPH, HEAD + frame.cursor[1] * LINE
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{GLYPH}" height="{LINE}" opacity=".6"/>')
        parts.append("</g>")
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    yield f"<title>{html.escape(title)}</title>"
    yield "<style>"
    yield "".join(f".{SHORT[name]}{{fill:{dark}}}" for name, (dark, _) in COLORS.items())
    yield "@media(prefers-color-scheme:light){" + "".join(f".{SHORT[name]}{{fill:{light}}}" for name, (_, light) in COLORS.items()) + "}"
    steps, past = [], 0.0
    for number, frame in enumerate(frames):
        steps.append(f"{100 * past / total:.3f}%{{transform:translateY({-number * height}px)}}")
        past += frame.seconds
    yield "@keyframes play{" + "".join(steps) + "}"
    yield f"#film{{animation:play {total:.2f}s step-end infinite}}"
    yield f"@media(prefers-reduced-motion:reduce){{#film{{animation:none;transform:translateY({-still * height}px)}}}}"
    yield "</style>"
    yield "<defs>"
    for drawn, name in names.items():
        yield f'<g id="{name}" transform="translate({MARGIN},0)">{drawn}</g>'
    yield "</defs>"
    yield f'<rect width="{width}" height="{height}" rx="8" class="{SHORT["ground"]}"/>'
    yield f'<path d="M0 32V8a8 8 0 0 1 8-8H{width - 8}a8 8 0 0 1 8 8V32Z" class="{SHORT["head"]}"/>'
    yield "".join(f'<circle cx="{20 + 18 * index}" cy="16" r="5" class="{SHORT["line"]}"/>' for index in range(3))
    yield (f'<svg width="{width}" height="{height}"><g id="film" transform="translate(0,{-still * height})" class="{SHORT["text"]}" '
           f'font-family="ui-monospace,Menlo,Consolas,\'DejaVu Sans Mono\',monospace" font-size="{SIZE}" xml:space="preserve">')
    yield from parts
    yield "</g></svg>\n</svg>"
