# The library that others link: the modules whose headers are in include/sidestep/, as one archive with a CMake package and
# a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(libsidestep STATIC)
add_library(sidestep::sidestep ALIAS libsidestep)
set_target_properties(libsidestep PROPERTIES OUTPUT_NAME sidestep EXPORT_NAME sidestep LINKER_LANGUAGE CXX
                                             ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
foreach(module IN ITEMS net rcu fib rules lookup)
  target_sources(libsidestep PRIVATE $<TARGET_OBJECTS:sidestep_${module}>)
endforeach()
target_include_directories(libsidestep PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(libsidestep PUBLIC cxx_std_23)
target_link_libraries(libsidestep PUBLIC fmt::fmt hwy::hwy PkgConfig::urcu_qsbr Threads::Threads)
# The checked build's types are larger, so whoever links it must see the same ones.
set(sidestep_pc_cflags "")
if(SIDESTEP_DEBUG)
  target_compile_definitions(libsidestep PUBLIC SIDESTEP_DEBUG _GLIBCXX_ASSERTIONS)
  set(sidestep_pc_cflags "-DSIDESTEP_DEBUG -D_GLIBCXX_ASSERTIONS")
endif()
if(SIDESTEP_SANITIZE)
  target_compile_options(libsidestep PUBLIC -fsanitize=${SIDESTEP_SANITIZE})
  target_link_options(libsidestep PUBLIC -fsanitize=${SIDESTEP_SANITIZE})
endif()

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/sidestep)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sidestep-config.cmake.in ${PROJECT_BINARY_DIR}/sidestep-config.cmake
                              INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sidestep-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH sidestep_pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # the package may be moved as a whole
configure_file(${PROJECT_SOURCE_DIR}/cmake/sidestep.pc.in ${PROJECT_BINARY_DIR}/sidestep.pc @ONLY)

install(TARGETS libsidestep EXPORT sidestep ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(EXPORT sidestep NAMESPACE sidestep:: FILE sidestep-targets.cmake DESTINATION ${package_directory} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sidestep DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/sidestep-config.cmake ${PROJECT_BINARY_DIR}/sidestep-config-version.cmake
        DESTINATION ${package_directory} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/sidestep.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
