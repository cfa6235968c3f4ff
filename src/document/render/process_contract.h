// What host and renderer agree on about the process itself, besides the protocol.
#pragma once

namespace lectern::document {

// The descriptors a renderer is born with, besides the standard three; all others are closed.
inline constexpr int renderer_socket_fd = 3;
inline constexpr int renderer_window_fd = 4;

// The exit status of a renderer that ran into its memory limit where no error could be returned.
inline constexpr int exit_out_of_memory = 90;

}  // namespace lectern::document
