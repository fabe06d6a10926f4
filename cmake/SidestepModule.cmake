# One function per kind of target, so that a module's CMakeLists.txt is a list of names.

add_library(sidestep_options INTERFACE)
target_include_directories(sidestep_options INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(
  sidestep_options
  INTERFACE -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor
            -Wimplicit-fallthrough)
if(SIDESTEP_WERROR)
  target_compile_options(sidestep_options INTERFACE -Werror)
endif()
if(SIDESTEP_DEBUG)
  target_compile_definitions(sidestep_options INTERFACE SIDESTEP_DEBUG _GLIBCXX_ASSERTIONS)
endif()
if(SIDESTEP_SANITIZE)
  target_compile_options(sidestep_options INTERFACE -fsanitize=${SIDESTEP_SANITIZE} -fno-sanitize-recover=all
                                                    -fno-omit-frame-pointer)
  target_link_options(sidestep_options INTERFACE -fsanitize=${SIDESTEP_SANITIZE})
endif()

# sidestep_module(NAME SOURCES a.cpp … [TESTS a_test.cpp …] [LINKS sidestep_fib … fmt::fmt …])
# makes the static library sidestep_NAME and, when tests are on, the program NAME_tests with one CTest test per case.
function(sidestep_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;TESTS;LINKS;TEST_LINKS")
  add_library(sidestep_${name} STATIC ${arg_SOURCES})
  target_link_libraries(sidestep_${name} PUBLIC sidestep_options ${arg_LINKS})
  if(SIDESTEP_TESTS AND arg_TESTS)
    add_executable(${name}_tests ${arg_TESTS})
    target_link_libraries(${name}_tests PRIVATE sidestep_${name} ${arg_TEST_LINKS} GTest::gmock GTest::gtest_main)
    gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
  endif()
endfunction()
