"""Where the fonts are. DejaVu is free to embed, and Debian has it everywhere."""
FOLDER = "/usr/share/fonts/truetype/dejavu/"
SERIF, SERIF_BOLD = FOLDER + "DejaVuSerif.ttf", FOLDER + "DejaVuSerif-Bold.ttf"
SANS, SANS_BOLD, MONO = FOLDER + "DejaVuSans.ttf", FOLDER + "DejaVuSans-Bold.ttf", FOLDER + "DejaVuSansMono.ttf"
