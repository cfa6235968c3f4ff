#include "cli/doctor.h"

#include <boost/asio/io_context.hpp>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "base/async.h"
#include "base/disk.h"
#include "cli/engines.h"
#include "cli/event_loop.h"
#include "cli/renderer_check.h"
#include "vision/languages.h"
#include "vision/ocr.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr std::uint64_t free_bytes_min = std::uint64_t{1} << 30;

void examine_renderer(const Config& config, std::vector<Finding>& findings) {
  const auto report = start_renderer(config);
  if (!report) {
    findings.push_back({"renderer", Health::broken, report.error().for_caller, std::string(renderer_mend)});
    return;
  }
  findings.push_back(renderer_finding(report->pdfium_build_id));
  std::vector<std::string> layers;
  if (report->seccomp) layers.emplace_back("seccomp");
  if (report->landlock_abi > 0) layers.push_back(fmt::format("Landlock (ABI {})", report->landlock_abi));
  if (report->rlimits) layers.emplace_back("resource limits");
  if (report->network_namespace) layers.emplace_back("network namespace");
  const std::string in_force = layers.empty() ? "no layer is in force" : fmt::format("{}", fmt::join(layers, ", "));
  // Without seccomp nothing keeps a hostile document from the system; the other layers only double it.
  const Health health = !report->seccomp ? Health::broken : report->missing.empty() ? Health::good : Health::warning;
  findings.push_back({"sandbox", health, in_force, fmt::format("{}", fmt::join(report->missing, "; "))});
}

void examine_ocr(const Config& config, std::vector<Finding>& findings) {
  const auto languages = vision::installed_languages(config.text("read.tessdata"));
  if (!languages || languages->empty()) {
    findings.push_back({"OCR", Health::broken, languages ? "no languages are installed" : languages.error().for_caller,
                        "apt-get install tesseract-ocr-eng"});
    return;
  }
  findings.push_back({"OCR", Health::good,
                      fmt::format("Tesseract {}, languages: {}", vision::engine_version(), fmt::join(*languages, " ")),
                      ""});
  const auto wanted = vision::split_languages(config.text("read.lang"));
  const Status known = wanted ? vision::check_languages(*wanted, *languages) : std::unexpected(wanted.error());
  findings.push_back({"language", known ? Health::good : Health::broken,
                      fmt::format("read.lang = {}", config.text("read.lang")), known ? "" : known.error().for_caller});
  const auto engine =
      vision::OcrEngine::create({.languages = languages->front(), .data_folder = config.text("read.tessdata")});
  if (!engine) {
    findings.push_back({"OCR engine", Health::broken, engine.error().for_caller,
                        fmt::format("apt-get install --reinstall tesseract-ocr-{}", languages->front())});
  }
}

Finding engine_finding(const EngineOffer& offer, const std::string& wanted) {
  const std::string name = fmt::format("engine {}", offer.engine);
  if (offer.process) return {name, Health::good, "a program; started when it is asked", ""};
  const auto choice = choose_model(offer, wanted);
  if (!choice) return {name, Health::broken, choice.error().for_caller, ""};
  if (!choice->warning.empty()) {
    return {name, Health::broken, choice->warning, "start it, or correct the address (engines.urls, VLLM_SERVER_URL)"};
  }
  if (!choice->listed) {
    return {name, Health::warning, fmt::format("has no model '{}'; {}", wanted, offered(offer)),
            "name one of these with VLM_MODEL_NAME, unless the engine answers to any name"};
  }
  const auto model = std::ranges::find(offer.models, choice->model, &provider::ModelInfo::id);
  const int context = model == offer.models.end() ? 0 : model->context_tokens;
  return {name, Health::good,
          fmt::format("answers, model {}{}", choice->model,
                      context > 0 ? fmt::format(", context of {} tokens", context) : ""),
          ""};
}

void examine_engines(const Config& config, std::vector<Finding>& findings) {
  const auto settings = model_settings(config, process_environment());
  if (!settings) {
    findings.push_back({"models", Health::broken, settings.error().for_caller, ""});
    return;
  }
  if (!*settings) {
    findings.push_back({"models", Health::good, "no engine is used; the builtin reader reads", ""});
    return;
  }
  asio::io_context loop(1);
  SystemTimers timers;
  const EngineParts parts{loop.get_executor(), provider::make_http_client(loop.get_executor()), timers};
  std::vector<FleetSettings> fleets = {(*settings)->first};
  if ((*settings)->second) fleets.push_back(*(*settings)->second);
  for (const FleetSettings& fleet : fleets) {
    const auto offers = run_on(loop, ask_offers(parts, fleet, **settings, {}));
    for (std::size_t i = 0; i < offers.size(); ++i) {
      const std::string& own = fleet.engines[i].model;
      findings.push_back(engine_finding(offers[i], own.empty() ? fleet.model : own));
    }
  }
}

Finding examine_folder(const std::string& name, const std::string& folder, const std::string& mend) {
  std::string probe = folder + "/lectern-doctor-XXXXXX";
  const UniqueFd fd(::mkstemp(probe.data()));
  if (!fd) {
    return {name, Health::broken, fmt::format("cannot write to {}: {}", folder, fail_errno("", errno).error().for_log),
            mend};
  }
  ::unlink(probe.c_str());
  struct statvfs space{};
  if (::fstatvfs(fd.get(), &space) != 0) return {name, Health::good, fmt::format("{} can be written", folder), ""};
  const std::uint64_t free_bytes = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  const std::string detail =
      fmt::format("{} can be written, {:.1f} GiB free", folder, static_cast<double>(free_bytes) / (1U << 30U));
  if (free_bytes < free_bytes_min) return {name, Health::warning, detail, "free some space, or " + mend};
  return {name, Health::good, detail, ""};
}

}  // namespace

std::string_view to_string(Health health) {
  switch (health) {
    case Health::good:
      return "ok";
    case Health::warning:
      return "warning";
    case Health::broken:
      return "broken";
  }
  return "broken";
}

Finding renderer_finding(std::string_view pdfium_build_id) {
  if (pdfium_build_id == LECTERN_PDFIUM_BUILD_ID) {
    return {"renderer", Health::good,
            fmt::format("lectern-render starts, PDFium {} (build {})", LECTERN_PDFIUM_VERSION, pdfium_build_id), ""};
  }
  return {"renderer", Health::warning,
          fmt::format("lectern-render starts, PDFium of unknown version ({} {})",
                      pdfium_build_id.empty() ? "without" : "build",
                      pdfium_build_id.empty() ? "build id" : pdfium_build_id),
          fmt::format("unset LECTERN_PDFIUM (render.pdfium) to use PDFium {}, with which Lectern was tested",
                      LECTERN_PDFIUM_VERSION)};
}

std::vector<Finding> examine(const Config& config) {
  std::vector<Finding> findings;
  findings.push_back({"lectern", Health::good, fmt::format("version {}", LECTERN_VERSION), ""});
  findings.push_back({"processor", Health::good, fmt::format("{} cores", hardware_threads()), ""});
  examine_renderer(config, findings);
  examine_ocr(config, findings);
  examine_engines(config, findings);
  for (Finding& finding : examine_jobs(config)) findings.push_back(std::move(finding));
  findings.push_back(examine_folder("temporary folder", config.text("read.temporary_folder"),
                                    "set TMPDIR to a folder with room that you may write to"));
  findings.push_back(examine_folder("current folder", ".", "choose another output folder with -o"));
  return findings;
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.name.size());
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<7}  {:<{}}  {}\n", to_string(finding.health), finding.name, width, finding.detail);
    if (!finding.mend.empty()) text += fmt::format("{:<7}  {:<{}}  to mend: {}\n", "", "", width, finding.mend);
  }
  return text;
}

std::string findings_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  bool healthy = true;
  for (const Finding& finding : findings) {
    nlohmann::ordered_json one{
        {"name", finding.name}, {"state", to_string(finding.health)}, {"detail", finding.detail}};
    if (!finding.mend.empty()) one["mend"] = finding.mend;
    list.push_back(std::move(one));
    healthy = healthy && finding.health != Health::broken;
  }
  const nlohmann::ordered_json json{{"healthy", healthy}, {"findings", std::move(list)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lectern::cli
