// libjpeg reports errors by longjmp, which skips destructors: each function that calls setjmp holds only plain values,
// and everything with a destructor lives in its caller. Internal to image/.
#pragma once

// clang-format off: jpeglib.h uses FILE and does not declare it
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <csetjmp>

namespace lectern::image {

struct JpegErrors {
  jpeg_error_mgr base;  // first, so that libjpeg's pointer is also ours
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];

  // What libjpeg's `err` is to be. Must stay in place as long as libjpeg uses it.
  jpeg_error_mgr* install() {
    jpeg_std_error(&base);
    base.error_exit = [](j_common_ptr info) {
      auto* errors = reinterpret_cast<JpegErrors*>(info->err);
      errors->base.format_message(info, errors->message);
      std::longjmp(errors->jump, 1);
    };
    base.emit_message = [](j_common_ptr, int) {};  // warnings: libjpeg mends what it can, and so do browsers
    base.output_message = [](j_common_ptr) {};
    return &base;
  }
};

}  // namespace lectern::image
