# PDFium is the shared library inside PyPI's pypdfium2 wheel, pinned by the wheel's hash (packages/pypi.txt) and, at run
# time, by the library's own build id. ./dev fetches it into .cache/pdfium; it is loaded by lectern-render, never linked.
set(LECTERN_PDFIUM_BUILD_ID "df8713e0be95611f" CACHE STRING "GNU build id of the pinned libpdfium.so")
set(LECTERN_PDFIUM_VERSION "156.0.8076.0" CACHE STRING "Version of the pinned libpdfium.so")
set(LECTERN_PDFIUM_LIBRARY "${PROJECT_SOURCE_DIR}/.cache/pdfium/libpdfium.so" CACHE FILEPATH "The pinned libpdfium.so")
