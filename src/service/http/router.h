// Which handler answers which request: by method and by a pattern of the path.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "service/http/message.h"

namespace lectern::service::http {

using Handler = std::function<boost::asio::awaitable<Response>(ExchangePtr)>;

struct Route {
  std::string method;   // GET answers HEAD as well
  std::string pattern;  // "/v1/jobs/{id}/pages/{page:number}"; a number is 1 to 999999999
  std::int64_t body_bytes_max = 0;
  Handler handler;
  std::string query = {};  // the names of the parameters that it knows, separated by blanks: for lists of routes
};

class Router {
 public:
  void add(Route route);

  struct Match {
    const Route* route = nullptr;
    std::map<std::string, std::string, std::less<>> path;
  };
  struct Miss {
    Problem problem;    // not_found or method_not_allowed
    std::string allow;  // the methods that the path has
  };
  std::vector<const Route*> routes() const;
  std::expected<Match, Miss> find(std::string_view method, const Target& target) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> parts;
  };
  std::vector<Entry> entries_;
};

}  // namespace lectern::service::http
