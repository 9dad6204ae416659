# What `cmake --install` puts under a prefix, which may be moved as a whole afterwards:
#   find_package(Heddle)
#   Heddle::heddle    builder, compiler, nn: one shared library over the distribution's libMLIR and libLLVM
#   Heddle::runtime   runs compiled programs: a shared library of C functions, without LLVM
#   Heddle::compiler  with COMPONENTS compiler: Heddle::heddle with the headers of the compiler itself, for plugins
#   Heddle::runtime_static, Heddle::runtime_headers  with COMPONENTS runtime: the C++ classes of the runtime (memory
#                     managers, programs, communicators), and the headers alone, for engines; without LLVM
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One shared library of all static ones, so that users need neither know how many there are nor find MLIR.
get_property(libraries GLOBAL PROPERTY HEDDLE_COMPILER_LIBRARIES)
get_property(plain_libraries GLOBAL PROPERTY HEDDLE_PLAIN_LIBRARIES)
list(APPEND libraries ${plain_libraries})
list(REMOVE_ITEM libraries HeddleOpenMP)
set(objects)
foreach(library ${libraries})
  get_target_property(folder ${library} SOURCE_DIR)
  if(folder MATCHES "^${PROJECT_SOURCE_DIR}/(runtime|dialects|lib)")
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
  endif()
endforeach()
add_library(heddle SHARED ${objects})
set_target_properties(heddle PROPERTIES LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
target_link_libraries(heddle PRIVATE MLIR LLVM ZLIB::ZLIB PNG::PNG JPEG::JPEG SQLite::SQLite3 Threads::Threads)
# It calls its own functions without a detour, and never those that a program has by the same name.
target_link_options(heddle PRIVATE -Wl,-Bsymbolic-functions "-Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/heddle.map")
set_target_properties(heddle PROPERTIES LINK_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/heddle.map")
add_library(Heddle::heddle ALIAS heddle)

set(targets heddle heddle_runtime)
foreach(target ${targets})
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
endforeach()
set_target_properties(heddle PROPERTIES INSTALL_RPATH "$ORIGIN;${LLVM_LIBRARY_DIR}")

set(tools heddle-opt heddle-run heddlec heddle-reduce heddle-translate heddle-lsp-server heddle-launch heddle-probe heddle-plan heddle-models)
install(TARGETS ${targets} EXPORT HeddleTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(tool ${tools})
  set_target_properties(${tool} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${LLVM_LIBRARY_DIR}")
  install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # bash looks for a file of the tool's name.
  install(FILES "${PROJECT_SOURCE_DIR}/tools/share/completion.bash" RENAME ${tool}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  list(APPEND tool_files "$<TARGET_FILE:${tool}>")
endforeach()
# Manual pages say what the tools say on --help.
install(CODE "execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/tools/share/make-man\" ${PROJECT_VERSION}
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\" ${tool_files} COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/heddle" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/share/topologies" DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle)
# What plugins include: dialects, passes, interfaces; under a folder of their own, by the paths that they have here.
foreach(root "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  foreach(folder dialects lib)
    install(DIRECTORY "${root}/${folder}" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle-compiler
      FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)
  endforeach()
endforeach()
# What memory managers and engines include, likewise.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle-runtime
  FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/SECURITY.md" DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Heddle")
install(EXPORT HeddleTargets NAMESPACE Heddle:: DESTINATION ${package})
# Apart, since its users need to find threads as well.
add_library(HeddleRuntimeHeaders INTERFACE)
set_target_properties(HeddleRuntimeHeaders PROPERTIES EXPORT_NAME runtime_headers)
set_target_properties(HeddleRuntime PROPERTIES EXPORT_NAME runtime_static)
foreach(target HeddleRuntimeHeaders HeddleRuntime)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heddle-runtime>)
endforeach()
target_compile_features(HeddleRuntime INTERFACE cxx_std_20)
install(TARGETS HeddleRuntime HeddleRuntimeHeaders EXPORT HeddleRuntimeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT HeddleRuntimeTargets NAMESPACE Heddle:: DESTINATION ${package})
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/HeddleConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/HeddleConfig.cmake" INSTALL_DESTINATION ${package})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/HeddleConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_LIST_DIR}/HeddlePlugin.cmake"
  "${PROJECT_SOURCE_DIR}/lib/target/cpu/EmbedObject.cmake" "${PROJECT_BINARY_DIR}/cmake/HeddleConfig.cmake"
  "${PROJECT_BINARY_DIR}/cmake/HeddleConfigVersion.cmake" DESTINATION ${package})
