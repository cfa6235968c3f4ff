"""Runs every tool over every case and prints the tables."""
import difflib
import statistics
import sys

import plain
import scores
import sets
import tools

MEASURES = ("word F1", "text", "order", "table", "headings")
INFORMATION = ("headings",)  # shown, but no bar: references disagree about what a heading is
ORIENTATION_BAR = 0.95


def wanted(only: str | None, set_name: str, name: str) -> bool:
    if not only:
        return True
    set_part, _, file_part = only.partition("/")
    return set_part in set_name and file_part in name


def verdict(ours: float, best: float, slack: float) -> tuple[str, bool]:
    """Rounded to what is printed, so the table never contradicts its verdict."""
    ours, best = round(ours, 3), round(best, 3)
    if ours >= best:
        return "first", True
    behind = (best - ours) / best
    if slack and behind <= slack:
        return f"within {slack:.0%}", True
    return f"**behind by {behind:.1%}**", False


def show_diff(reference: str, text: str) -> None:
    a, b = plain.plain(reference).split(), plain.plain(text).split()
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            before = " ".join(a[max(0, i1 - 4):i1])
            print(f"    …{before} [-{' '.join(a[i1:i2])}-] [+{' '.join(b[j1:j2])}+]")


def score_cases(options, lectern) -> tuple[dict, dict]:
    """{set: {tool: {measure: [value…]}}} and {set: is it OCR}."""
    table, kinds = {}, {}
    digital, ocr = tools.digital_peers(), [tools.Tesseract(psm) for psm in tools.PSMS]
    for case in sets.cases(options.data):
        if not wanted(options.only, case.set, case.name) or not (lectern.scans if case.ocr else lectern.reads):
            continue
        print(f"  {case.set}/{case.name}", file=sys.stderr, flush=True)
        texts = {"lectern": lectern.read(case.source, case.language, case.ocr)}
        for tool in ocr if case.ocr else digital:
            texts[tool.name] = tool.read(case.source, case.language) if case.ocr else tool.read(case.source)
        kinds[case.set] = case.ocr
        for name, (text, why) in texts.items():
            if why:
                print(f"    {name}: {why}", file=sys.stderr)
            values = scores.score(case.reference, text)
            if options.per_file or options.only:
                shown = "  ".join(f"{m} {v:.3f}" for m, v in values.items() if v is not None)
                print(f"{case.set}/{case.name}  {name:18} {shown}")
            for measure, value in values.items():
                if value is not None:
                    table.setdefault(case.set, {}).setdefault(name, {}).setdefault(measure, []).append(value)
        if options.show_diff:
            show_diff(case.reference, texts["lectern"][0])
    return table, kinds


def print_digital(table: dict, kinds: dict) -> bool:
    names = [peer.name for peer in tools.digital_peers()]
    print(f"\n| set | files | measure | lectern | {' | '.join(names)} | verdict |\n|---|--:|---|--:|{'--:|' * len(names)}---|")
    passed = True
    for set_name, by_tool in table.items():
        if kinds[set_name]:
            continue
        for measure in MEASURES:
            mean = {tool: statistics.fmean(values[measure]) for tool, values in by_tool.items() if measure in values}
            if not mean:
                continue
            word, met = verdict(mean["lectern"], max(mean[name] for name in names), 0.01)
            if measure in INFORMATION:
                word = "(information) " + word.replace("*", "")
            else:
                passed &= met
            print(f"| {set_name} | {len(by_tool['lectern'][measure])} | {measure} | {mean['lectern']:.3f} | "
                  f"{' | '.join(f'{mean[name]:.3f}' for name in names)} | {word} |")
    return passed


def print_scans(table: dict, kinds: dict) -> bool:
    names = [f"tesseract --psm {psm}" for psm in tools.PSMS]
    print(f"\n| scans | files | measure | lectern | {' | '.join(names)} | verdict against the best |\n"
          f"|---|--:|---|--:|{'--:|' * len(names)}---|")
    passed = True
    for set_name, by_tool in table.items():
        if not kinds[set_name]:
            continue
        for measure in ("word F1", "text", "order"):
            mean = {tool: statistics.fmean(values[measure]) for tool, values in by_tool.items()}
            word, met = verdict(mean["lectern"], max(mean[name] for name in names), 0)
            passed &= met
            print(f"| {set_name} | {len(by_tool['lectern'][measure])} | {measure} | {mean['lectern']:.3f} | "
                  f"{' | '.join(f'{mean[name]:.3f}' for name in names)} | {word} |")
    return passed


def print_orientation(options, lectern) -> bool:
    right = {}
    for page in sets.turned(options.data):
        if not wanted(options.only, page.set, page.name):
            continue
        ours, why = lectern.rotation(page.source, page.page, page.turn_by)
        osd = tools.tesseract_osd(page.source, page.page, page.turn_by)
        counts = right.setdefault(page.set, [0, 0, 0])
        counts[0] += 1
        counts[1] += ours == page.degrees
        counts[2] += osd == page.degrees
        if ours != page.degrees or options.per_file or options.only:
            print(f"  {page.set}/{page.name}: {page.degrees}°, lectern {ours}° {why}, OSD {osd}°", file=sys.stderr, flush=True)
    if not right:
        return True
    print("\n| orientation | pages | lectern | tesseract OSD | verdict |\n|---|--:|--:|--:|---|")
    passed = True
    for name, (pages, ours, osd) in right.items():
        met = ours / pages >= ORIENTATION_BAR and ours >= osd
        passed &= met
        word = f"met (at least {ORIENTATION_BAR:.0%})" if met else f"**missed: at least {ORIENTATION_BAR:.0%} and no worse than OSD**"
        print(f"| {name} | {pages} | {ours / pages:.1%} | {osd / pages:.1%} | {word} |")
    return passed


def compare(options) -> int:
    lectern = tools.Lectern(options.lectern, options.lectern_ocr)
    table, kinds = score_cases(options, lectern)
    passed = True
    if any(not ocr for ocr in kinds.values()):
        passed &= print_digital(table, kinds)
    if any(kinds.values()):
        passed &= print_scans(table, kinds)
    if not options.lectern and not options.lectern_ocr:
        passed &= print_orientation(options, lectern)
    print("\nPeers: " + ", ".join(f"{peer.name} {peer.version}" for peer in tools.digital_peers())
          + f", tesseract {tools.Tesseract(3).version} (PDF pages rendered at {tools.RENDER_DPI} dpi). Means over files; a file that a "
          "tool fails on counts as empty text.")
    return 0 if passed else 1
