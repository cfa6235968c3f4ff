// Loads libpdfium.so and checks that it is the pinned one: our declarations in pdfium.h were checked against that
// build.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "document/render/backend.h"
#include "document/render/pdfium.h"

namespace lectern::document {
namespace fpdf {
namespace {
Functions loaded_functions;
bool loaded = false;
}  // namespace

const Functions& functions() {
  if (!loaded) std::abort();  // A bug of ours: a PDF was opened before pdfium_load().
  return loaded_functions;
}
}  // namespace fpdf

namespace {

PdfiumInfo info_found;

// Notes are 4-byte aligned records: name size, description size, type, name, description.
std::string build_id_in_notes(const std::uint8_t* notes, std::size_t size) {
  const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof(header));
    const std::size_t whole = sizeof(header) + padded(header.n_namesz) + padded(header.n_descsz);
    if (whole > size) break;
    const std::uint8_t* name = notes + sizeof(header);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string id;
      for (const std::uint8_t byte : std::span(name + 4, header.n_descsz)) id += fmt::format("{:02x}", byte);
      return id;
    }
    notes += whole;
    size -= whole;
  }
  return {};
}

struct Search {
  ElfW(Addr) base = 0;
  std::string build_id;
};

int visit_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (object->dlpi_addr != search.base) return 0;
  for (const ElfW(Phdr) & header : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (header.p_type != PT_NOTE) continue;
    // The loader mapped the notes at this address; it exists only as a number.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* notes = reinterpret_cast<const std::uint8_t*>(object->dlpi_addr + header.p_vaddr);
    search.build_id = build_id_in_notes(notes, header.p_memsz);
    if (!search.build_id.empty()) break;
  }
  return 1;
}

std::string build_id_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr) return {};
  Search search{.base = map->l_addr};
  dl_iterate_phdr(visit_object, &search);
  return search.build_id;
}

Status resolve(void* handle, const std::string& path) {
#define LECTERN_RESOLVE(name, result, parameters)                                                                 \
  fpdf::loaded_functions.name = reinterpret_cast<decltype(fpdf::Functions::name)>(dlsym(handle, #name));          \
  if (fpdf::loaded_functions.name == nullptr) {                                                                   \
    return fail(                                                                                                  \
        ErrorKind::unavailable,                                                                                   \
        "the PDF library {} lacks the function {}: it is too old or not PDFium; Lectern is built for version {}", \
        path, #name, LECTERN_PDFIUM_VERSION);                                                                     \
  }
  LECTERN_PDFIUM_FUNCTIONS(LECTERN_RESOLVE)
#undef LECTERN_RESOLVE
  return {};
}

}  // namespace

const PdfiumInfo& pdfium_info() {
  return info_found;
}

Status pdfium_load(const std::string& library_path) {
  if (fpdf::loaded) return {};
  const bool overriding = !library_path.empty() && library_path != LECTERN_PDFIUM_LIBRARY;
  const std::string path = library_path.empty() ? LECTERN_PDFIUM_LIBRARY : library_path;
  if (access(path.c_str(), R_OK) != 0) {
    return fail(ErrorKind::unavailable,
                "the PDF library is missing: {}: {}. Run ./dev in Lectern's source folder to fetch it, or set "
                "LECTERN_PDFIUM to a libpdfium.so of version {}",
                path, std::strerror(errno), LECTERN_PDFIUM_VERSION);
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return fail(ErrorKind::unavailable,
                "the PDF library cannot be loaded: {}. Run ./dev in Lectern's source folder to fetch it again, or set "
                "LECTERN_PDFIUM to a libpdfium.so of version {}",
                dlerror(), LECTERN_PDFIUM_VERSION);
  }
  PdfiumInfo found{.path = path, .build_id = build_id_of(handle), .pinned_build_id = LECTERN_PDFIUM_BUILD_ID};
  if (!found.pinned()) {
    const std::string mismatch =
        fmt::format("the PDF library {} has build id {}, but Lectern was built and tested with PDFium {} ({})", path,
                    found.build_id.empty() ? "none" : found.build_id, LECTERN_PDFIUM_VERSION, LECTERN_PDFIUM_BUILD_ID);
    if (!overriding) {
      dlclose(handle);
      return fail(
          ErrorKind::unavailable,
          "{}. Run ./dev in Lectern's source folder to fetch the right one, or set LECTERN_PDFIUM to use another "
          "on purpose",
          mismatch);
    }
    found.warning = mismatch + ". It is used because LECTERN_PDFIUM asks for it";
  }
  if (Status resolved = resolve(handle, path); !resolved) {
    dlclose(handle);
    return resolved;
  }
  // No system fonts: the same page gives the same pixels on every machine, and the sandbox has no files to offer.
  static const char* no_fonts[] = {nullptr};
  fpdf::LibraryConfig config{.user_font_paths = no_fonts};
  fpdf::loaded_functions.FPDF_InitLibraryWithConfig(&config);
  fpdf::loaded = true;
  info_found = std::move(found);
  return {};
}

}  // namespace lectern::document
