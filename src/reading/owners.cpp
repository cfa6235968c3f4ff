#include "reading/owners.h"

#include <nlohmann/json.hpp>
#include <simdjson.h>

#include <fstream>

namespace lectern::reading {
namespace {

using Json = nlohmann::ordered_json;

// Names are bytes, and here they must come back exactly: one that is not UTF-8 is written as a list of its bytes.
Json json_of(const std::string& name) {
  if (simdjson::validate_utf8(name)) return name;
  Json bytes = Json::array();
  for (const char c : name) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

std::optional<std::string> name_in(simdjson::dom::element value) {
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) return std::string(text);
  simdjson::dom::array bytes;
  if (value.get_array().get(bytes) != simdjson::SUCCESS) return std::nullopt;
  std::string name;
  for (const auto item : bytes) {
    std::int64_t byte = 0;
    if (item.get_int64().get(byte) != simdjson::SUCCESS || byte < 0 || byte > 255) return std::nullopt;
    name += static_cast<char>(byte);
  }
  return name;
}

std::string row_of(const Owner& owner) {
  Json json{{"document", json_of(owner.document)}, {"stem", json_of(owner.stem)}};
  if (!owner.source.empty()) json["source"] = json_of(owner.source);
  if (!owner.relative.empty()) json["relative"] = json_of(owner.relative);
  json["outputs"] = Json::array();
  for (const std::string& output : owner.outputs) json["outputs"].push_back(json_of(output));
  return json.dump() + "\n";
}

std::optional<Owner> owner_in(const std::string& row) {
  thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(row).get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  Owner owner;
  for (const auto& [key, value] : object) {
    if (key == "outputs") {
      simdjson::dom::array outputs;
      if (value.get_array().get(outputs) != simdjson::SUCCESS) return std::nullopt;
      for (const auto item : outputs) {
        auto output = name_in(item);
        if (!output) return std::nullopt;
        owner.outputs.insert(std::move(*output));
      }
      continue;
    }
    auto name = name_in(value);
    if (!name) return std::nullopt;
    if (key == "document") owner.document = std::move(*name);
    if (key == "stem") owner.stem = std::move(*name);
    if (key == "source") owner.source = std::move(*name);
    if (key == "relative") owner.relative = std::move(*name);
  }
  if (owner.document.empty() || owner.stem.empty()) return std::nullopt;
  return owner;
}

}  // namespace

Result<std::optional<Owners>> Owners::load(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) {
      return fail(ErrorKind::unavailable, "cannot read {}; make it readable and run again", file.string());
    }
    return std::nullopt;
  }
  Owners owners;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    auto owner = owner_in(line);
    if (!owner) {
      return fail(ErrorKind::corrupt,
                  "{}:{}: the row does not say which document owns what; move the file away and run again (what was "
                  "read is kept)",
                  file.string(), number);
    }
    owners.put(std::move(*owner));
  }
  return owners;
}

Status Owners::save(Disk& disk, const std::filesystem::path& file) const {
  auto out = AtomicFile::create(disk, file);
  if (!out) return std::unexpected(out.error());
  for (const auto& [document, owner] : owners_) {
    if (auto written = out->write(row_of(owner)); !written) return written;
  }
  return out->commit();
}

const Owner* Owners::named(const std::string& document) const {
  const auto found = owners_.find(document);
  return found == owners_.end() ? nullptr : &found->second;
}

const Owner* Owners::from(const std::string& source) const {
  const auto found = sources_.find(source);
  return found == sources_.end() ? nullptr : named(found->second);
}

bool Owners::put(Owner owner) {
  if (const Owner* before = named(owner.document); before != nullptr && *before == owner) return false;
  remove(owner.document);
  if (!owner.source.empty()) sources_[owner.source] = owner.document;
  stems_[owner.stem] = owner.document;
  owners_[owner.document] = std::move(owner);
  return true;
}

bool Owners::remove(const std::string& document) {
  const auto found = owners_.find(document);
  if (found == owners_.end()) return false;
  const Owner& owner = found->second;
  if (const auto at = sources_.find(owner.source); at != sources_.end() && at->second == document) sources_.erase(at);
  if (const auto at = stems_.find(owner.stem); at != stems_.end() && at->second == document) stems_.erase(at);
  owners_.erase(found);
  return true;
}

}  // namespace lectern::reading
