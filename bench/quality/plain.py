"""Markdown to comparable plain text: the same rules for every tool and for the references.

What counts is what a reader would read, so markup is dropped and typography is folded:
  - comments, pictures, picture placeholders, code fences, table rules and pipes, HTML tags: dropped
  - heading, quote and list markers at the start of a line, free-standing bullets and dashes, emphasis (* _ ` ~~): dropped
  - links: their text stays, their address goes; footnote marks [^1] become 1
  - words hyphenated at a line end are mended (lower case goes on), so nobody wins or loses by keeping lines
  - Unicode NFKC; typographic quotes and dashes become ' " -; bidi and zero-width controls go; whitespace is one blank
Case, digits, punctuation and ordered-list numbers stay.
"""
import html
import re
import unicodedata

_TAGS = (r"table|thead|tbody|tfoot|tr|td|th|caption|br|hr|b|i|u|s|em|strong|sup|sub|small|mark|p|a|img|div|span|section|"
         r"article|header|footer|figure|figcaption|ul|ol|li|code|pre|h[1-6]|center|font|blockquote")
_TAG = re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>", re.I)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
# What pymupdf4llm writes where a picture was: its markup, not the document's text. (What it read inside the picture counts.)
_OMITTED = re.compile(r"\**==>\s*picture.*?<==\**", re.I)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]+)>")
_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.M)
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.M)
_LINE_MARKER = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?)+", re.M)
_BULLET = re.compile(r"^[ \t]*(?:[-*+•◦▪‣●○■□·–\uf0b7\uf0a7][ \t]+)+(?:\[[ xX]\][ \t]+)?", re.M)
_LOOSE_BULLET = re.compile(r"(?:(?<=\s)|^)[-•◦▪‣●○■□·–\uf0b7\uf0a7](?=\s|$)", re.M)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~$&:])")
_FOOTNOTE = re.compile(r"\[\^(\w+)\]:?")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\s*\n\s*(?=[^\W\d_A-ZÀ-Þ])")
_FOLD = str.maketrans({"‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
                       "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "\u00ad": None})


def fold(text: str) -> str:
    """Typography and whitespace only."""
    text = unicodedata.normalize("NFKC", text).translate(_FOLD)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return " ".join(text.split())


def plain(markdown: str) -> str:
    text = markdown.replace("\r\n", "\n").replace("\f", "\n")
    text = _OMITTED.sub(" ", text)
    text = _COMMENT.sub(" ", text)
    text = _FENCE.sub("", text)
    text = _TABLE_RULE.sub("", text)
    text = _IMAGE.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    text = _AUTOLINK.sub(r"\1", text)
    text = _TAG.sub(" ", text)
    text = html.unescape(text)
    text = _FOOTNOTE.sub(r"\1", text)
    text = _LINE_MARKER.sub("", text)
    text = _BULLET.sub("", text)
    text = _ESCAPE.sub(r"\1", text)
    text = text.replace("|", " ")
    text = re.sub(r"[*_`]|~~", "", text)
    text = _LOOSE_BULLET.sub("", text)
    text = _HYPHEN.sub("", text)
    return fold(text)


def words(text: str) -> list[str]:
    """Words of plain text without the punctuation around them."""
    found = (token.strip(".,;:!?()[]{}\"'<>-…") for token in text.split())
    return [word for word in found if word]


def headings(markdown: str) -> list[str]:
    return [plain(line) for line in re.findall(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$", markdown, re.M)]
