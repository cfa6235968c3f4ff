#!/usr/bin/env python3
"""The house rules hold in this repository, and each rule finds the fault that it is there to find."""
import sys
import tempfile
import unittest
from pathlib import Path

import house_rules

ROOT = Path(__file__).resolve().parents[2]
LATE = "TO" + "DO"

GOOD = {"src/base/error.h": "// base/: results and errors.\n#pragma once\n",
        "src/image/image.h": '// image/: pixels.\n#pragma once\n#include "base/error.h"\n',
        "src/image/jpeg.cpp": '#include <jpeglib.h>\n#include "image/image.h"\n',
        "src/document/render/backend.h": '// render/: inside the sandbox.\n#pragma once\n',
        "src/document/pool.h": '// document/: files to pages.\n#pragma once\n',
        "src/document/render_main.cpp": '#include "document/render/backend.h"\n'}

# rule → (file, its text, what the complaint must name)
FAULTS = {
    house_rules.rooms_look_down: [
        ("src/base/hash.cpp", '#include "image/image.h"\n', "above"),
        ("src/cellar/wine.cpp", '#include "base/error.h"\n', "not a room"),
        ("src/image/near.cpp", '#include "image.h"\n', "names no room")],
    house_rules.renderer_is_apart: [("src/document/host.cpp", '#include "document/render/backend.h"\n', "sandboxed")],
    house_rules.libraries_stay_at_the_edge: [
        ("src/image/ocr.cpp", "#include <tesseract/baseapi.h>\n", "only in vision"),
        ("src/document/host.cpp", "#include <tiffio.h>\n", "document/render"),
        ("src/base/flags.cpp", "# include  <CLI/CLI.hpp>\n", "only in cli")],
    house_rules.headers_introduce_themselves: [
        ("src/image/mute.h", "#pragma once\n", "opens with a comment"),
        ("src/image/twice.h", "// Twice.\n", "#pragma once")],
    house_rules.rooms_introduce_themselves: [("src/vision/ocr.h", "// Words.\n#pragma once\n", "src/vision")],
    house_rules.named_files_exist: [("docs" + "/lost.md", "See docs/" + "nowhere.md for more.\n", "does not exist")],
    house_rules.nothing_is_put_off: [("tests/image/later_test.cpp", f"// {LATE}: think\n", LATE)],
}


def write_tree(root: Path, tree: dict[str, str]) -> None:
    for name, text in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")


class HouseTest(unittest.TestCase):
    def test_this_repository_keeps_every_rule(self):
        for rule in house_rules.RULES:
            with self.subTest(rule.__name__):
                faults = list(rule(ROOT))
                self.assertFalse(faults, "\n" + "\n".join(faults))

    def test_the_repository_was_looked_at(self):
        # An empty tree keeps every rule; this guards against a checker that looks in the wrong place.
        self.assertGreater(sum(1 for _ in house_rules.includes(ROOT)), 100)

    def test_a_good_tree_keeps_every_rule(self):
        with tempfile.TemporaryDirectory() as folder:
            write_tree(Path(folder), GOOD)
            for rule in house_rules.RULES:
                self.assertEqual(list(rule(Path(folder))), [], rule.__name__)

    def test_each_rule_finds_its_fault(self):
        self.assertEqual(set(FAULTS), set(house_rules.RULES), "every rule needs a fault here")
        for rule, faults in FAULTS.items():
            for name, text, named in faults:
                with self.subTest(f"{rule.__name__}: {name}"), tempfile.TemporaryDirectory() as folder:
                    write_tree(Path(folder), GOOD | {name: text})
                    found = list(rule(Path(folder)))
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(named, found[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
