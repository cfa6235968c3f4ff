// Names of model families, and which of them a server's model belongs to.
#include <array>
#include <cctype>
#include <string>

#include "reading/model/sizing.h"

namespace lectern::reading {
namespace {

// Letters and digits alone, in lower case: "Qwen2.5-VL", "qwen2_5_vl" and "qwen25vl" are one name.
std::string bare(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

struct Named {
  std::string_view part;
  ModelFamily family;
};
// Models that were trained from a family's member keep its eyes.
constexpr std::array<Named, 10> model_parts = {{
    {"deepseekocr", ModelFamily::deepseek_ocr},
    {"pixtral", ModelFamily::pixtral},
    {"qwen3vl", ModelFamily::qwen3_vl},
    {"qwen35", ModelFamily::qwen3_vl},
    {"qwen25vl", ModelFamily::qwen25_vl},
    {"qwen25omni", ModelFamily::qwen25_vl},
    {"qwen2vl", ModelFamily::qwen25_vl},
    {"olmocr", ModelFamily::qwen25_vl},
    {"nanonetsocr", ModelFamily::qwen25_vl},
    {"dotsocr", ModelFamily::qwen25_vl},
}};

}  // namespace

std::string_view to_string(ModelFamily family) {
  switch (family) {
    case ModelFamily::generic:
      return "generic";
    case ModelFamily::qwen25_vl:
      return "qwen2.5-vl";
    case ModelFamily::qwen3_vl:
      return "qwen3-vl";
    case ModelFamily::pixtral:
      return "pixtral";
    case ModelFamily::deepseek_ocr:
      return "deepseek-ocr";
  }
  return "";
}

std::optional<ModelFamily> family_from_name(std::string_view name) {
  const std::string wanted = bare(name);
  for (const ModelFamily family : {ModelFamily::generic, ModelFamily::qwen25_vl, ModelFamily::qwen3_vl,
                                   ModelFamily::pixtral, ModelFamily::deepseek_ocr}) {
    if (wanted == bare(to_string(family))) return family;
  }
  if (wanted == "qwen2vl") return ModelFamily::qwen25_vl;
  return std::nullopt;
}

ModelFamily family_of_model(std::string_view model) {
  const std::string name = bare(model);
  for (const Named& named : model_parts) {
    if (name.find(named.part) != std::string::npos) return named.family;
  }
  return ModelFamily::generic;
}

}  // namespace lectern::reading
