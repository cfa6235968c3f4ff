// Which Tesseract languages are on this machine, and what to say when one is not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lectern::vision {

// The tessdata folder in force: `data_folder` where given, else TESSDATA_PREFIX, else where the packages put it.
Result<std::string> find_data_folder(const std::string& data_folder);

// "eng+por" → {"eng", "por"}; an error for an empty list, an empty name or one that could not be a file name.
Result<std::vector<std::string>> split_languages(std::string_view joined);

// An error that names every wanted language that is not installed and how to get it.
Status check_languages(const std::vector<std::string>& wanted, const std::vector<std::string>& installed);

}  // namespace lectern::vision
