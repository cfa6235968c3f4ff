// Precompiled for every target: only what most files use and what is slow to parse. Files still include what they use.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
