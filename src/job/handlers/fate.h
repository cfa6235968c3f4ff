// What becomes of a task that met an error: pure decisions, the same for all handlers.
#pragma once

#include <optional>

#include "base/error.h"
#include "job/decide.h"
#include "reading/page_result.h"

namespace lectern::job {

// The blobs, the store or the disk of this worker did not do what they should. Nobody's fault: the task goes back, and
// somebody tries again in a while. What is gone or damaged for good fails.
Outcome after_blob_error(const Error& error);

// A document could not be opened. Its own fault is for good; a renderer that cannot be started is the worker's, and the
// task goes back.
Outcome after_open_error(const Error& error, const std::string& document);

// A page that failed because the worker lacked something (`unavailable`: a renderer that cannot be started, OCR data
// that is gone) goes back, too. nullopt: it was read, or it failed by itself.
std::optional<Outcome> after_unread_page(const reading::PageResult& page);

// No reader could be had. A wish that cannot be fulfilled is for good; an engine that is away is nobody's fault.
Outcome after_reader_error(const Error& error);

// Errors of documents and page lists name the flags of `lectern read`; whoever sent a job knows the fields of the API.
std::string in_words_of_the_api(std::string text);

// Errors may begin with the document's name; whoever shows them says it already.
std::string without_name(const std::string& text, const std::string& document);

}  // namespace lectern::job
