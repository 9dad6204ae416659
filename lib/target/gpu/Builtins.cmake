# heddle_gpu_builtins(library triple constants): compiles Builtins.c to LLVM bitcode for a GPU and puts its bytes into
# Builtins.inc, which a source of the library includes. `constants`: the number of the address space of constants.
# Only clang can do this; where it is missing, the file is empty, and kernels that call such a function are refused.
find_program(HEDDLE_CLANG NAMES clang clang-22 HINTS "${LLVM_TOOLS_BINARY_DIR}")
function(heddle_gpu_builtins library triple constants)
  set(sources "${PROJECT_SOURCE_DIR}/lib/target/cpu")
  set(bitcode "${CMAKE_CURRENT_BINARY_DIR}/Builtins.bc")
  set(embedded "${CMAKE_CURRENT_BINARY_DIR}/Builtins.inc")
  if(NOT HEDDLE_CLANG)
    file(WRITE "${embedded}" "")
    target_include_directories(${library} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
    return()
  endif()
  add_custom_command(
    OUTPUT "${embedded}"
    COMMAND "${HEDDLE_CLANG}" --target=${triple} -nogpulib -O2 -g0 -ffreestanding -fno-builtin -ffp-contract=off
            "-DHEDDLE_CONSTANT=__attribute__((address_space(${constants})))"
            -emit-llvm -c "${sources}/Builtins.c" -o "${bitcode}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${bitcode}" "-DOUTPUT=${embedded}" -P "${sources}/EmbedObject.cmake"
    DEPENDS "${sources}/Builtins.c" "${sources}/BuiltinsMath.h" "${sources}/EmbedObject.cmake"
    COMMENT "Embedding the builtins for ${triple}"
    VERBATIM)
  target_sources(${library} PRIVATE "${embedded}")
endfunction()
