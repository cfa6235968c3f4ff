// The part of PDFium's C interface that we use, in our own declarations, and the table of its functions once loaded.
// PDFium is one library for the whole process and not thread safe: only one thread may call through this table.
//
// PDFium's space: points, origin bottom left of the unturned page, y grows up. See page_space.h for ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace lectern::document::fpdf {

// Opaque handles. Distinct types, so that the compiler tells them apart.
using Document = struct DocumentTag*;
using Page = struct PageTag*;
using TextPage = struct TextPageTag*;
using PageObject = struct PageObjectTag*;
using PathSegment = const struct PathSegmentTag*;
using ClipPath = const struct ClipPathTag*;
using FontHandle = struct FontTag*;
using Bitmap = struct BitmapTag*;
using Annotation = struct AnnotationTag*;
using LinkHandle = struct LinkTag*;
using PageLink = struct PageLinkTag*;
using Bookmark = struct BookmarkTag*;
using Dest = struct DestTag*;
using Action = struct ActionTag*;
using FormHandle = struct FormTag*;

struct Matrix {
  float a = 1, b = 0, c = 0, d = 1, e = 0, f = 0;
};
struct RectF {
  float left = 0, top = 0, right = 0, bottom = 0;
};
struct SizeF {
  float width = 0, height = 0;
};
struct QuadPoints {
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0, x3 = 0, y3 = 0, x4 = 0, y4 = 0;
};
struct ImageMetadata {
  unsigned width = 0, height = 0;
  float horizontal_dpi = 0, vertical_dpi = 0;
  unsigned bits_per_pixel = 0;
  int colorspace = 0;
  int marked_content_id = 0;
};
struct LibraryConfig {
  int version = 2;
  const char** user_font_paths = nullptr;
  void* isolate = nullptr;
  unsigned v8_embedder_slot = 0;
  void* platform = nullptr;
  int renderer_type = 0;
  // Room for fields of later versions; PDFium reads them only when `version` says that they are there.
  int reserved[8] = {};
};
struct FileAccess {
  unsigned long file_length = 0;
  int (*get_block)(void* param, unsigned long position, unsigned char* buffer, unsigned long size) = nullptr;
  void* param = nullptr;
};

enum LoadError : unsigned long {
  error_none = 0,
  error_unknown,
  error_file,
  error_format,
  error_password,
  error_security
};
enum ObjectType : int { object_text = 1, object_path = 2, object_image = 3, object_shading = 4, object_form = 5 };
enum SegmentType : int { segment_line = 0, segment_bezier = 1, segment_move = 2 };
enum BitmapFormat : int { bitmap_gray = 1, bitmap_bgr = 2, bitmap_bgrx = 3, bitmap_bgra = 4 };
enum RenderFlag : int { render_annotations = 0x01, render_grayscale = 0x08, render_reverse_bytes = 0x10 };
enum ActionType : unsigned long { action_goto = 1, action_uri = 3 };
enum AnnotationType : int { annotation_link = 2, annotation_popup = 16, annotation_widget = 20 };
enum ColorSpace : int { color_gray = 1, color_rgb = 2, color_cmyk = 3, color_icc = 7, color_indexed = 10 };
constexpr int text_mode_invisible = 3;
constexpr int text_mode_clip = 7;
constexpr int flatten_done = 1;

// name, result, parameters
#define LECTERN_PDFIUM_FUNCTIONS(X)                                                            \
  X(FPDF_InitLibraryWithConfig, void, (const LibraryConfig*))                                  \
  X(FPDF_GetLastError, unsigned long, ())                                                      \
  X(FPDF_LoadCustomDocument, Document, (FileAccess*, const char*))                             \
  X(FPDF_CloseDocument, void, (Document))                                                      \
  X(FPDF_GetPageCount, int, (Document))                                                        \
  X(FPDF_GetPageSizeByIndexF, int, (Document, int, SizeF*))                                    \
  X(FPDF_GetMetaText, unsigned long, (Document, const char*, void*, unsigned long))            \
  X(FPDF_GetFormType, int, (Document))                                                         \
  X(FPDF_LoadPage, Page, (Document, int))                                                      \
  X(FPDF_ClosePage, void, (Page))                                                              \
  X(FPDF_GetPageBoundingBox, int, (Page, RectF*))                                              \
  X(FPDFPage_GetRotation, int, (Page))                                                         \
  X(FPDFPage_Flatten, int, (Page, int))                                                        \
  X(FPDFPage_GetAnnotCount, int, (Page))                                                       \
  X(FPDFPage_GetAnnot, Annotation, (Page, int))                                                \
  X(FPDFPage_CloseAnnot, void, (Annotation))                                                   \
  X(FPDFAnnot_GetSubtype, int, (Annotation))                                                   \
  X(FPDFAnnot_GetAP, unsigned long, (Annotation, int, void*, unsigned long))                   \
  X(FPDFPage_CountObjects, int, (Page))                                                        \
  X(FPDFPage_GetObject, PageObject, (Page, int))                                               \
  X(FPDFFormObj_CountObjects, int, (PageObject))                                               \
  X(FPDFFormObj_GetObject, PageObject, (PageObject, unsigned long))                            \
  X(FPDFPageObj_GetType, int, (PageObject))                                                    \
  X(FPDFPageObj_GetMatrix, int, (PageObject, Matrix*))                                         \
  X(FPDFPageObj_GetBounds, int, (PageObject, float*, float*, float*, float*))                  \
  X(FPDFPageObj_HasTransparency, int, (PageObject))                                            \
  X(FPDFPageObj_GetFillColor, int, (PageObject, unsigned*, unsigned*, unsigned*, unsigned*))   \
  X(FPDFPageObj_GetStrokeColor, int, (PageObject, unsigned*, unsigned*, unsigned*, unsigned*)) \
  X(FPDFPageObj_GetStrokeWidth, int, (PageObject, float*))                                     \
  X(FPDFPageObj_GetClipPath, ClipPath, (PageObject))                                           \
  X(FPDFClipPath_CountPaths, int, (ClipPath))                                                  \
  X(FPDFClipPath_CountPathSegments, int, (ClipPath, int))                                      \
  X(FPDFClipPath_GetPathSegment, PathSegment, (ClipPath, int, int))                            \
  X(FPDFPath_CountSegments, int, (PageObject))                                                 \
  X(FPDFPath_GetPathSegment, PathSegment, (PageObject, int))                                   \
  X(FPDFPath_GetDrawMode, int, (PageObject, int*, int*))                                       \
  X(FPDFPathSegment_GetPoint, int, (PathSegment, float*, float*))                              \
  X(FPDFPathSegment_GetType, int, (PathSegment))                                               \
  X(FPDFPathSegment_GetClose, int, (PathSegment))                                              \
  X(FPDFImageObj_GetBitmap, Bitmap, (PageObject))                                              \
  X(FPDFImageObj_GetImageDataRaw, unsigned long, (PageObject, void*, unsigned long))           \
  X(FPDFImageObj_GetImageDataDecoded, unsigned long, (PageObject, void*, unsigned long))       \
  X(FPDFImageObj_GetImageFilterCount, int, (PageObject))                                       \
  X(FPDFImageObj_GetImageFilter, unsigned long, (PageObject, int, void*, unsigned long))       \
  X(FPDFImageObj_GetImageMetadata, int, (PageObject, Page, ImageMetadata*))                    \
  X(FPDFImageObj_GetImagePixelSize, int, (PageObject, unsigned*, unsigned*))                   \
  X(FPDFTextObj_GetTextRenderMode, int, (PageObject))                                          \
  X(FPDFTextObj_GetFont, FontHandle, (PageObject))                                             \
  X(FPDFFont_GetBaseFontName, std::size_t, (FontHandle, char*, std::size_t))                   \
  X(FPDFFont_GetFlags, int, (FontHandle))                                                      \
  X(FPDFFont_GetWeight, int, (FontHandle))                                                     \
  X(FPDFFont_GetItalicAngle, int, (FontHandle, int*))                                          \
  X(FPDFText_LoadPage, TextPage, (Page))                                                       \
  X(FPDFText_ClosePage, void, (TextPage))                                                      \
  X(FPDFText_CountChars, int, (TextPage))                                                      \
  X(FPDFText_GetUnicode, unsigned, (TextPage, int))                                            \
  X(FPDFText_GetTextObject, PageObject, (TextPage, int))                                       \
  X(FPDFText_IsGenerated, int, (TextPage, int))                                                \
  X(FPDFText_IsHyphen, int, (TextPage, int))                                                   \
  X(FPDFText_HasUnicodeMapError, int, (TextPage, int))                                         \
  X(FPDFText_GetFontSize, double, (TextPage, int))                                             \
  X(FPDFText_GetMatrix, int, (TextPage, int, Matrix*))                                         \
  X(FPDFText_GetCharBox, int, (TextPage, int, double*, double*, double*, double*))             \
  X(FPDFText_GetLooseCharBox, int, (TextPage, int, RectF*))                                    \
  X(FPDFLink_Enumerate, int, (Page, int*, LinkHandle*))                                        \
  X(FPDFLink_GetDest, Dest, (Document, LinkHandle))                                            \
  X(FPDFLink_GetAction, Action, (LinkHandle))                                                  \
  X(FPDFLink_GetAnnotRect, int, (LinkHandle, RectF*))                                          \
  X(FPDFLink_CountQuadPoints, int, (LinkHandle))                                               \
  X(FPDFLink_GetQuadPoints, int, (LinkHandle, int, QuadPoints*))                               \
  X(FPDFLink_LoadWebLinks, PageLink, (TextPage))                                               \
  X(FPDFLink_CountWebLinks, int, (PageLink))                                                   \
  X(FPDFLink_GetURL, int, (PageLink, int, unsigned short*, int))                               \
  X(FPDFLink_CountRects, int, (PageLink, int))                                                 \
  X(FPDFLink_GetRect, int, (PageLink, int, int, double*, double*, double*, double*))           \
  X(FPDFLink_CloseWebLinks, void, (PageLink))                                                  \
  X(FPDFAction_GetType, unsigned long, (Action))                                               \
  X(FPDFAction_GetDest, Dest, (Document, Action))                                              \
  X(FPDFAction_GetURIPath, unsigned long, (Document, Action, void*, unsigned long))            \
  X(FPDFDest_GetDestPageIndex, int, (Document, Dest))                                          \
  X(FPDFBookmark_GetFirstChild, Bookmark, (Document, Bookmark))                                \
  X(FPDFBookmark_GetNextSibling, Bookmark, (Document, Bookmark))                               \
  X(FPDFBookmark_GetTitle, unsigned long, (Bookmark, void*, unsigned long))                    \
  X(FPDFBookmark_GetDest, Dest, (Document, Bookmark))                                          \
  X(FPDFBookmark_GetAction, Action, (Bookmark))                                                \
  X(FPDFBitmap_CreateEx, Bitmap, (int, int, int, void*, int))                                  \
  X(FPDFBitmap_Destroy, void, (Bitmap))                                                        \
  X(FPDFBitmap_GetFormat, int, (Bitmap))                                                       \
  X(FPDFBitmap_GetBuffer, void*, (Bitmap))                                                     \
  X(FPDFBitmap_GetWidth, int, (Bitmap))                                                        \
  X(FPDFBitmap_GetHeight, int, (Bitmap))                                                       \
  X(FPDFBitmap_GetStride, int, (Bitmap))                                                       \
  X(FPDF_RenderPageBitmap, void, (Bitmap, Page, int, int, int, int, int, int))                 \
  X(FPDF_RenderPageBitmapWithMatrix, void, (Bitmap, Page, const Matrix*, const RectF*, int))

struct Functions {
#define LECTERN_DECLARE(name, result, parameters) std::add_pointer_t<result parameters> name = nullptr;
  LECTERN_PDFIUM_FUNCTIONS(LECTERN_DECLARE)
#undef LECTERN_DECLARE
};

// The loaded library. pdfium_load() must have succeeded; calling it before is a bug and stops the process.
const Functions& functions();

// Owners, so that no early return leaks a page.
template <auto Close>
struct Closer {
  template <class T>
  void operator()(T* handle) const {
    (functions().*Close)(handle);
  }
};
using OwnedDocument = std::unique_ptr<DocumentTag, Closer<&Functions::FPDF_CloseDocument>>;
using OwnedPage = std::unique_ptr<PageTag, Closer<&Functions::FPDF_ClosePage>>;
using OwnedTextPage = std::unique_ptr<TextPageTag, Closer<&Functions::FPDFText_ClosePage>>;
using OwnedBitmap = std::unique_ptr<BitmapTag, Closer<&Functions::FPDFBitmap_Destroy>>;
using OwnedAnnotation = std::unique_ptr<AnnotationTag, Closer<&Functions::FPDFPage_CloseAnnot>>;
using OwnedPageLink = std::unique_ptr<PageLinkTag, Closer<&Functions::FPDFLink_CloseWebLinks>>;

}  // namespace lectern::document::fpdf
