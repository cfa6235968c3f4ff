// How serve, work, jobs and keys are said.
#include "cli/command_declaration.h"

namespace lectern::cli {
namespace {

void add_store_flags(Declared& declared, CLI::App& app, bool blobs) {
  const std::string group = "Where jobs are kept";
  add_setting(declared, app,
              {"--data",
               {"jobs.data"},
               "DIR",
               group,
               blobs ? "folder for jobs and their files (default: lectern in your data folder)"
                     : "folder of the server on this machine (default: lectern in your data folder)"});
  add_setting(declared, app,
              {"--store", {"jobs.store"}, "URL", group, "database of the jobs: sqlite:FILE or postgresql://…"});
  if (!blobs) return;
  add_setting(declared, app,
              {"--blobs",
               {"jobs.blobs"},
               "URL",
               group,
               "where documents and results go: a folder, or s3://BUCKET/PREFIX?endpoint=URL"});
}

void add_page_flags(Declared& declared, CLI::App& app) {
  const std::string group = "Reading";
  add_setting(declared, app,
              {"--lang", {"read.lang"}, "LANGS", group, "languages for OCR where a job names none (default eng)"});
  add_setting(declared, app,
              {"--parallel",
               {"read.parallel", "model.parallel"},
               "N|auto",
               group,
               "pages read at once (default auto: one a core); with an engine: requests in flight (default auto: as "
               "many as keep it exactly full)"});
  add_model_flags(declared, app);
}

void add_serve_command(Declared& declared) {
  CLI::App& app =
      add_command(declared, Command::serve, "serve",
                  "Serve jobs over HTTP: upload documents, follow their pages, fetch results. Reads them, too.");
  const std::string group = "Service";
  add_setting(declared, app,
              {"--listen",
               {"serve.listen"},
               "HOST:PORT",
               group,
               "address to listen on (default 127.0.0.1:8080); one that others reach needs a key, see lectern keys"});
  add_setting(declared, app,
              {"--workers",
               {"serve.workers"},
               "embedded|none",
               group,
               "embedded (default): this process also reads; none: workers are started with lectern work"});
  add_setting(declared, app,
              {"--tls-certificate", {"serve.tls_certificate"}, "FILE", group, "PEM file: speak TLS with it"});
  add_setting(declared, app, {"--tls-key", {"serve.tls_key"}, "FILE", group, "PEM file with its key"});
  add_setting(declared, app, {"--unix-socket", {"serve.unix_socket"}, "PATH", group, "listen on this socket as well"});
  add_store_flags(declared, app, true);
  add_page_flags(declared, app);
  app.footer(
      "Examples:\n"
      "  lectern serve                                  on this machine, everything in one process\n"
      "  curl -F file=@report.pdf http://127.0.0.1:8080/v1/jobs\n"
      "  lectern keys create --name intake              a key; then others may be let in:\n"
      "  lectern serve --listen 0.0.0.0:8443 --tls-certificate cert.pem --tls-key key.pem\n"
      "  lectern serve --workers none --store postgresql://jobs@db/lectern \\\n"
      "                --blobs s3://lectern?endpoint=http://s3:9000\n"
      "\n"
      "SIGTERM: no new work is taken, what is under way is finished or handed back, within 30 seconds.\n"
      "docs/serving.md tells how a team runs it.");
}

void add_work_command(Declared& declared) {
  CLI::App& app =
      add_command(declared, Command::work, "work",
                  "Read pages for lectern serve: any number of these, wherever store, blobs and models are near.");
  add_store_flags(declared, app, true);
  add_setting(declared, app,
              {"--metrics-port",
               {"work.metrics_port"},
               "PORT",
               "Service",
               "Prometheus figures at http://127.0.0.1:PORT/metrics (default none)"});
  add_setting(declared, app,
              {"--metrics-address",
               {"work.metrics_address"},
               "ADDRESS",
               "Service",
               "let others reach them: 0.0.0.0, or one of this machine's addresses (default 127.0.0.1); they need no "
               "key"});
  add_page_flags(declared, app);
  app.footer(
      "Examples:\n"
      "  lectern work                                   helps a lectern serve of this machine\n"
      "  lectern work --store postgresql://jobs@db/lectern --blobs s3://lectern?endpoint=http://s3:9000 \\\n"
      "               --engine http://gpu:8000\n"
      "\n"
      "SIGTERM: what is being read is finished or handed back; a second one hands it back at once.");
}

void add_jobs_command(Declared& declared) {
  CLI::App& app =
      add_command(declared, Command::jobs, "jobs", "Look at jobs, follow them, try failed pages again, cancel them.");
  JobsLine& line = declared.line.jobs;
  app.add_option("ACTION", line.action, "list, show, watch, retry or cancel")
      ->required()
      ->check(CLI::IsMember({"list", "show", "watch", "retry", "cancel"}));
  app.add_option("ID", line.ids, "jobs; watch without any shows all that are not over");
  const std::string group = "Which jobs";
  app.add_option("--status", line.status, "only those that are queued, running, succeeded, failed or cancelled")
      ->option_text("STATUS")
      ->group(group)
      ->check(CLI::IsMember({"queued", "running", "succeeded", "failed", "cancelled"}));
  app.add_option("--tenant", line.tenant, "only those of this tenant")->option_text("NAME")->group(group);
  app.add_option("--limit", line.limit, "how many to list (default 20)")
      ->option_text("N")
      ->group(group)
      ->check(CLI::Range(1, 200));
  app.add_flag("--json", declared.line.json, "as JSON, for programs; watch: a line for each change")->group("Output");
  const std::string server = "A server elsewhere";
  add_setting(declared, app,
              {"--server", {"jobs.server"}, "URL", server, "ask this lectern serve instead of the store"});
  add_setting(declared, app,
              {"--key", {"jobs.key"}, "KEY", server, "its key; LECTERN_KEY does not show in process lists"});
  add_store_flags(declared, app, false);
  app.footer(
      "Examples:\n"
      "  lectern jobs list --status failed\n"
      "  lectern jobs watch                             a live table\n"
      "  lectern jobs show job_01…                      steps, pages and events of one\n"
      "  lectern jobs retry job_01…                     its failed pages once more\n"
      "  LECTERN_KEY=lct_… lectern jobs list --server https://lectern.example.org\n"
      "\n"
      "Exit codes: 0 done, 1 store or server did not answer, 2 wrong usage, 3 a watched or named job failed,\n"
      "4 there is no such job, or it cannot be done to it.");
}

void add_keys_command(Declared& declared) {
  CLI::App& app = add_command(declared, Command::keys, "keys",
                              "Make, list and revoke the keys that clients of lectern serve need.");
  KeysLine& line = declared.line.keys;
  app.add_option("ACTION", line.action, "create, list or revoke")
      ->required()
      ->check(CLI::IsMember({"create", "list", "revoke"}));
  app.add_option("ID", line.id, "the key to revoke, as list shows it");
  const std::string group = "A new key";
  app.add_option("--name", line.name, "who uses it")->option_text("TEXT")->group(group);
  app.add_option("--tenant", line.tenant, "whose jobs it sees; tenants share the workers fairly (default: default)")
      ->option_text("NAME")
      ->group(group);
  app.add_option("--scopes", line.scopes, "what it may do: submit, read, admin (default: submit read)")
      ->option_text("LIST")
      ->group(group);
  app.add_flag("--json", declared.line.json, "as JSON, for programs")->group("Output");
  add_store_flags(declared, app, false);
  app.footer(
      "Examples:\n"
      "  lectern keys create --name intake --scopes submit,read      prints the key, this once\n"
      "  lectern keys list\n"
      "  lectern keys revoke 1f3c…");
}

}  // namespace

void add_job_commands(Declared& declared) {
  add_serve_command(declared);
  add_work_command(declared);
  add_jobs_command(declared);
  add_keys_command(declared);
}

}  // namespace lectern::cli
