// Tesseract keeps the picture of each line as a PNG in memory: it compresses the line (leptonica's pixWriteMem) only to
// decompress it at once for its recogniser (pixReadMem). On a page of text that is a twelfth of all its time, and it
// has no setting for it. Our program therefore has functions of these two names, which the dynamic linker finds before
// leptonica's: while a RawLineImages lives, gray pictures are kept as they are instead. The pixels that Tesseract gets
// back are the same. Everything else is passed on to leptonica.
#pragma once

namespace lectern::vision {

// For the calling thread. Declare it outside of guarded(), which may skip destructors of what is inside. Does not nest.
class RawLineImages {
 public:
  RawLineImages();
  ~RawLineImages();
  RawLineImages(const RawLineImages&) = delete;
  RawLineImages& operator=(const RawLineImages&) = delete;
};

}  // namespace lectern::vision
