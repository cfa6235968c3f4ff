// What we know better than the recogniser about a page it has read. Pure functions on the words.
#pragma once

#include "vision/ocr.h"

namespace lectern::vision {

// Drops what is no text: short words that the recogniser itself does not believe in come from specks, stains, edges of
// the paper and drawings. Ditto marks, which it takes for letters, become '"'.
void drop_noise(OcrPage& page);

// Reads tables across. The recogniser takes the columns of an unruled table for columns of text and reads them one
// after the other; where rows have three entries or more and at most a long one, they are read row by row instead.
// Columns of prose stay as they are.
void read_rows_across(OcrPage& page);

}  // namespace lectern::vision
