#include "cli/command_declaration.h"

namespace lectern::cli {

CLI::Option* add_setting(Declared& declared, CLI::App& command, const SettingFlagText& text) {
  auto& values = declared.values[command.get_name() + text.flag];
  CLI::Option* option = command.add_option(text.flag, values, text.help)
                            ->option_text(text.value_name)
                            ->group(text.group)
                            ->expected(1)
                            ->allow_extra_args(false)
                            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  declared.setting_flags.push_back({option, text.keys, text.flag});
  return option;
}

void add_list_setting(Declared& declared, CLI::App& command, const SettingFlagText& text) {
  add_setting(declared, command, text)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::App& add_command(Declared& declared, Command command, const std::string& name, const std::string& description) {
  CLI::App& app = *declared.app.add_subcommand(name, description);
  app.set_help_flag("-h,--help", "show this help")->group("General");
  app.add_option("--config", declared.line.config_file, "read settings from this lectern.toml")
      ->option_text("FILE")
      ->group("General");
  declared.set_flags.push_back(app.add_option("--set", declared.values[name + " --set"],
                                              "any setting of `lectern config`, such as model.temperature=0.2")
                                   ->option_text("KEY=VALUE")
                                   ->group("General")
                                   ->expected(1)
                                   ->allow_extra_args(false)
                                   ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
  declared.commands[&app] = command;
  return app;
}

void add_reading_flags(Declared& declared, CLI::App& app, bool models) {
  const std::string group = "Reading";
  app.add_option("--pages", declared.line.pages, "only these pages, such as 1-10,15,20-")
      ->option_text("LIST")
      ->group(group);
  add_setting(
      declared, app,
      {"--lang", {"read.lang"}, "LANGS", group, "languages for OCR: Tesseract names joined by '+' (default eng)"});
  add_setting(declared, app,
              {"--password",
               {"read.password"},
               "TEXT",
               group,
               "password of encrypted PDFs; LECTERN_PASSWORD does not show in process lists"});
  add_setting(declared, app,
              {"--auto-rotate",
               {"read.auto_rotate"},
               "on|off",
               group,
               "turn sideways and upside-down scans upright (default on)"});
  add_setting(declared, app,
              {"--parallel",
               {"read.parallel", "model.parallel"},
               "N|auto",
               group,
               models ? "pages read at once (default auto: one a core); with an engine: requests in flight (default "
                        "auto: as many as keep it exactly full); the output does not depend on it"
                      : "pages read at once (default auto: one a core); the output does not depend on it"});
}

void add_engine_flags(Declared& declared, CLI::App& app) {
  const std::string group = "Models";
  add_list_setting(
      declared, app,
      {"--engine",
       {"engines.urls"},
       "URL",
       group,
       "a model server reads the pages (vLLM, llama-server, SGLang, Ollama, any OpenAI-compatible API), or "
       "process:COMMAND; several share the work"});
  add_setting(declared, app,
              {"--model", {"model.name"}, "NAME", group, "model to ask for (default: the engine's only one)"});
}

void add_model_flags(Declared& declared, CLI::App& app) {
  add_engine_flags(declared, app);
  const std::string group = "Models";
  add_setting(declared, app,
              {"--prompt", {"model.prompt_file"}, "FILE", group, "what the model is told (default: its family's own)"});
  add_setting(declared, app,
              {"--fallback-model",
               {"model.fallback_name"},
               "NAME",
               group,
               "a second model, asked about what the first cannot read"});
  add_list_setting(declared, app,
                   {"--fallback-engine",
                    {"model.fallback_urls"},
                    "URL",
                    group,
                    "where the second model is (default: the same engines)"});
  add_setting(declared, app,
              {"--fallback",
               {"model.fallback"},
               "ocr|placeholder",
               group,
               "when no model could read a page: the builtin reader (default), or [VLM_ERROR page N]: why"});
}

void add_budget_flags(Declared& declared, CLI::App& app) {
  const std::string group = "Models";
  add_setting(declared, app,
              {"--max-tokens",
               {"read.tokens_max"},
               "N",
               group,
               "start no page once the run has used so many tokens; running again goes on"});
  add_setting(declared, app,
              {"--max-cost",
               {"read.cost_max"},
               "X",
               group,
               "the same for its cost, by model.price_prompt and model.price_completion"});
}

}  // namespace lectern::cli
