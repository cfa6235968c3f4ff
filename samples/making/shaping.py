"""Enough of Arabic shaping and of the bidirectional rules to print short lines of Hebrew and Arabic.

A PDF holds glyphs in the order in which they are painted; this turns logical text into that order, as a word processor would.
"""
import re
import unicodedata

_MIRROR = str.maketrans("()[]«»", ")(][»«")


def _arabic_forms():
    """base letter → {isolated, initial, medial, final}, read off the Unicode presentation forms."""
    forms = {}
    for code in range(0xFE70, 0xFEFD):
        kind, _, base = unicodedata.decomposition(chr(code)).partition("> ")
        if base and " " not in base:
            forms.setdefault(chr(int(base, 16)), {})[kind.strip("<")] = chr(code)
    return forms


_FORMS = _arabic_forms()


def shape(word: str) -> str:
    """Joined forms. A letter joins to the next if it has an initial form, to the one before if it has a final form."""
    shaped = []
    for at, letter in enumerate(word):
        forms = _FORMS.get(letter)
        if not forms:
            shaped.append(letter)
            continue
        before = at > 0 and "initial" in _FORMS.get(word[at - 1], {}) and "final" in forms
        after = at + 1 < len(word) and "final" in _FORMS.get(word[at + 1], {}) and "initial" in forms
        kind = {(True, True): "medial", (True, False): "final", (False, True): "initial", (False, False): "isolated"}[before, after]
        shaped.append(forms.get(kind, letter))
    return "".join(shaped)


def _is_rtl(word: str) -> bool:
    return any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in word)


def visual(line: str) -> str:
    """A right-to-left line as painted from left to right. Runs of Latin words and numbers keep their own direction."""
    runs = []
    for word in line.split(" "):
        if not _is_rtl(word) and runs and not _is_rtl(runs[-1]):
            runs[-1] += " " + word
        else:
            runs.append(word)
    return " ".join(_paint_rtl(run) if _is_rtl(run) else _paint_ltr(run) for run in reversed(runs))


def _paint_rtl(run: str) -> str:
    """Letters from right to left, numbers inside (ו-12:00) from left to right."""
    turned = shape(run)[::-1].translate(_MIRROR)
    return re.sub(r"\d[\d:.,]*", lambda number: number.group(0)[::-1], turned)


def _paint_ltr(run: str) -> str:
    """The sentence's punctuation after the run belongs to its left, where the sentence goes on."""
    body = run.rstrip(".,;:!?")
    return run[len(body):] + body
