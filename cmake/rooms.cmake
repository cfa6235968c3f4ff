# Targets with BATCHED: eight sources are compiled as one, so that what they include is read once and a full build takes
# minutes less. The names in their anonymous namespaces must differ. A change compiles its neighbours too; who works on one
# file for long may prefer -DLECTERN_UNITY=OFF.
option(LECTERN_UNITY "Compile several sources of a target at a time" ON)
function(lectern_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LECTERN_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# lectern_room(NAME [BATCHED] USES rooms… LIBS libraries…): one folder under src/ is one static library target.
# Every .cpp directly in the room's folder belongs to it, except *_main.cpp, which are programs.
function(lectern_room name)
  cmake_parse_arguments(ROOM "BATCHED" "" "USES;LIBS;SUBFOLDERS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  foreach(folder IN LISTS ROOM_SUBFOLDERS)
    file(GLOB more CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND sources ${more})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "_main\\.cpp$")
  if(NOT sources)  # a room of headers alone
    add_library(lectern_${name} INTERFACE)
    target_include_directories(lectern_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    list(TRANSFORM ROOM_USES PREPEND lectern_)
    target_link_libraries(lectern_${name} INTERFACE ${ROOM_USES} ${ROOM_LIBS})
    return()
  endif()
  add_library(lectern_${name} STATIC ${sources})
  target_include_directories(lectern_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM ROOM_USES PREPEND lectern_)
  target_link_libraries(lectern_${name} PUBLIC ${ROOM_USES} ${ROOM_LIBS})
  target_precompile_headers(lectern_${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
  if(ROOM_BATCHED)
    lectern_batches(lectern_${name})
  endif()
endfunction()

# lectern_test(NAME [BATCHED] USES rooms… LIBS libraries… LABELS labels… [WHOLE] [TIMEOUT seconds] [COST seconds]): the *_test.cpp of a
# folder under tests/ as one program. ctest starts it once for each test; with WHOLE once for all, where what they share takes long to
# start. Those with the highest COST begin first, so that nobody waits for a long one at the end.
function(lectern_test name)
  cmake_parse_arguments(T "WHOLE;BATCHED" "TIMEOUT;COST" "USES;LIBS;LABELS;SUBFOLDERS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  if(NOT T_COST)
    set(T_COST 0)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS *_test.cpp)
  foreach(folder IN LISTS T_SUBFOLDERS)
    file(GLOB more CONFIGURE_DEPENDS ${folder}/*_test.cpp)
    list(APPEND sources ${more})
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_tests ${sources})
  target_include_directories(${name}_tests PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  list(TRANSFORM T_USES PREPEND lectern_)
  target_link_libraries(${name}_tests PRIVATE ${T_USES} ${T_LIBS} GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name}_tests PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h <gtest/gtest.h>)
  target_compile_options(${name}_tests PRIVATE ${LECTERN_TEST_OPTIONS})
  if(T_BATCHED)
    lectern_batches(${name}_tests)
  endif()
  target_compile_definitions(${name}_tests PRIVATE LECTERN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                   LECTERN_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  if(T_WHOLE)
    add_test(NAME ${name}_tests COMMAND ${name}_tests)
    set_tests_properties(${name}_tests PROPERTIES LABELS "${T_LABELS};${name}" TIMEOUT ${T_TIMEOUT} COST ${T_COST})
    return()
  endif()
  # Labels last: CMake 3.25 hands lists over in pieces, and what follows one is lost. So is the second label.
  gtest_discover_tests(${name}_tests DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${T_TIMEOUT} COST ${T_COST}
                       LABELS "${T_LABELS};${name}")
endfunction()
