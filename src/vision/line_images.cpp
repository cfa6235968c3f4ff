#include "vision/line_images.h"

#include <dlfcn.h>
#include <leptonica/allheaders.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace lectern::vision {
namespace {

thread_local bool keep_raw = false;

// No picture format starts like this, so that pixReadMem() can tell ours from a file.
constexpr std::array<char, 16> magic = {'\0', 'l', 'e', 'c', 't', 'e', 'r', 'n',
                                        ' ',  'r', 'a', 'w', ' ', 'p', 'i', 'x'};

struct Header {
  std::array<char, 16> magic;
  std::int32_t width_px;
  std::int32_t height_px;
  std::int32_t x_dpi;
  std::int32_t y_dpi;
};

std::size_t pixel_bytes(Pix* pix) {
  return sizeof(l_uint32) * static_cast<std::size_t>(pixGetWpl(pix)) * static_cast<std::size_t>(pixGetHeight(pix));
}

// Colour maps and comments would need more than a header; Tesseract's lines have neither.
bool is_plain_gray(Pix* pix) {
  return pixGetDepth(pix) == 8 && pixGetColormap(pix) == nullptr && pixGetText(pix) == nullptr;
}

// Null when there is no memory. Freed by lept_free(), as with pixWriteMem().
l_uint8* to_raw(Pix* pix, std::size_t& size) {
  const Header header{magic, pixGetWidth(pix), pixGetHeight(pix), pixGetXRes(pix), pixGetYRes(pix)};
  size = sizeof header + pixel_bytes(pix);
  auto* data = static_cast<l_uint8*>(lept_calloc(1, size));
  if (data == nullptr) return nullptr;
  std::memcpy(data, &header, sizeof header);
  std::memcpy(data + sizeof header, pixGetData(pix), pixel_bytes(pix));
  return data;
}

bool is_raw(const l_uint8* data, std::size_t size) {
  return data != nullptr && size >= sizeof(Header) && std::memcmp(data, magic.data(), magic.size()) == 0;
}

// Null when the size belies the header, or there is no memory.
Pix* from_raw(const l_uint8* data, std::size_t size) {
  Header header;
  std::memcpy(&header, data, sizeof header);
  Pix* pix = pixCreateNoInit(header.width_px, header.height_px, 8);
  if (pix == nullptr) return nullptr;
  if (size != sizeof header + pixel_bytes(pix)) {
    pixDestroy(&pix);
    return nullptr;
  }
  pixSetResolution(pix, header.x_dpi, header.y_dpi);
  pixSetInputFormat(pix, IFF_PNG);
  std::memcpy(pixGetData(pix), data + sizeof header, pixel_bytes(pix));
  return pix;
}

template <class Function>
Function* leptonicas(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

RawLineImages::RawLineImages() {
  keep_raw = true;
}
RawLineImages::~RawLineImages() {
  keep_raw = false;
}

}  // namespace lectern::vision

extern "C" {

l_ok pixWriteMem(l_uint8** pdata, size_t* psize, PIX* pix, l_int32 format) {
  using namespace lectern::vision;
  if (keep_raw && format == IFF_PNG && pdata != nullptr && psize != nullptr && pix != nullptr && is_plain_gray(pix)) {
    *pdata = to_raw(pix, *psize);
    return *pdata == nullptr ? 1 : 0;
  }
  static auto* const original = leptonicas<decltype(::pixWriteMem)>("pixWriteMem");
  return original == nullptr ? 1 : original(pdata, psize, pix, format);
}

PIX* pixReadMem(const l_uint8* data, size_t size) {
  using namespace lectern::vision;
  if (is_raw(data, size)) return from_raw(data, size);
  static auto* const original = leptonicas<decltype(::pixReadMem)>("pixReadMem");
  return original == nullptr ? nullptr : original(data, size);
}

}  // extern "C"
