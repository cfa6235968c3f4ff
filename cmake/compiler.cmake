# g++ 12 destroys temporaries inside co_await expressions twice (a double free, seen with Boost.Asio), so Debian 12's
# own compiler cannot build this project correctly. See docs/decisions/0002-clang.md.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR
    "Lectern needs clang 19 or newer; found ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}.\n"
    "g++ 12 frees temporaries in co_await expressions twice and is refused. Use ./dev, or: cmake --preset release")
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion
                    -Wimplicit-fallthrough -Wunused -Wno-missing-field-initializers -fno-omit-frame-pointer)
# Debian builds with _FORTIFY_SOURCE and PIE; so do we. Assertions in libstdc++ stay on in debug and sanitizer builds.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
else()
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
# Tests test optimised code, but need not be optimised themselves: that is half of their compile time. Lines are all that
# a sanitizer's report needs.
set(LECTERN_TEST_OPTIONS -O0 $<$<CONFIG:RelWithDebInfo>:-gline-tables-only>)
add_link_options(-fuse-ld=lld -Wl,-z,relro,-z,now)

set(LECTERN_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")
if(LECTERN_SANITIZE)
  add_compile_options(-fsanitize=${LECTERN_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LECTERN_SANITIZE})
endif()

# Coverage of the rooms themselves is what guides a fuzzer through them.
if(LECTERN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
# Precompiled headers without a time stamp in them, so that a compiler cache can recognise them.
add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
