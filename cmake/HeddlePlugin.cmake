# What a plugin of the compiler is built with.
#   Heddle::compiler                       Heddle::heddle, the headers of dialects and passes, MLIR's headers
#   heddle_add_plugin(name sources...)     a shared object for --plugin and JitOptions::plugins
#   heddle_embed_kernels(name file.c...)   compiles C kernels into objects that import nothing; `#include "name.inc"`
#                                          in a source of the plugin `name` gives their bytes as numbers
#   Heddle_COMPILER_INCLUDE_DIR            where these headers and their .td files are
get_target_property(heddle_include Heddle::heddle INTERFACE_INCLUDE_DIRECTORIES)
set(Heddle_COMPILER_INCLUDE_DIR "${heddle_include}/heddle-compiler")
if(NOT TARGET Heddle::compiler)
  add_library(Heddle::compiler INTERFACE IMPORTED)
  target_link_libraries(Heddle::compiler INTERFACE Heddle::heddle)
  target_include_directories(Heddle::compiler INTERFACE "${Heddle_COMPILER_INCLUDE_DIR}" "${heddle_include}/heddle-runtime")
  target_include_directories(Heddle::compiler SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  # As LLVM was built.
  target_compile_options(Heddle::compiler INTERFACE -fno-rtti)
endif()

function(heddle_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_link_libraries(${name} PRIVATE Heddle::compiler)
endfunction()

function(heddle_embed_kernels name)
  add_library(${name}-kernels OBJECT ${ARGN})
  target_compile_options(${name}-kernels PRIVATE
    -O3 -g0 -ffreestanding -fno-builtin -fPIC -fno-stack-protector -fno-asynchronous-unwind-tables
    -fno-jump-tables)
  set(bytes "${CMAKE_CURRENT_BINARY_DIR}/${name}.inc")
  add_custom_command(OUTPUT "${bytes}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=$<TARGET_OBJECTS:${name}-kernels>" "-DOUTPUT=${bytes}"
            -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedObject.cmake"
    DEPENDS ${name}-kernels "$<TARGET_OBJECTS:${name}-kernels>" VERBATIM)
  target_sources(${name} PRIVATE "${bytes}")
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()
