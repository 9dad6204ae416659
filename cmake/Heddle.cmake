# How every library, tool and test of Heddle is built: one place for flags, the precompiled header and the link.

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Werror=return-type)
add_link_options(-fuse-ld=lld)
# For mains and tests, whose code runs once: to optimise it takes more than half of the time to compile it.
set(HEDDLE_RUNS_ONCE "$<$<CONFIG:Debug>:-O0>")
if(HEDDLE_SANITIZE)
  add_compile_options(-fsanitize=${HEDDLE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HEDDLE_SANITIZE})
endif()

# One precompiled header for all code that includes MLIR. It is compiled twice: for the compiler's libraries, and for
# what may throw (builder, tools, tests).
function(heddle_precompile name)
  add_library(${name} OBJECT "${CMAKE_CURRENT_SOURCE_DIR}/cmake/Pch.cpp")
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  # Without times it is the same from the same sources: compiler caches know it again.
  target_compile_options(${name} PRIVATE ${ARGN} "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cmake/Pch.h")
endfunction()
heddle_precompile(HeddlePch -fno-rtti -fno-exceptions)
heddle_precompile(HeddlePchThrowing -fno-rtti)
find_package(GTest QUIET)
if(GTest_FOUND) # which the header includes, with the definitions that tests are compiled with
  target_link_libraries(HeddlePchThrowing PRIVATE GTest::gtest)
endif()

# heddle_use_mlir(target [THROWING] [RUNS_ONCE]): how `target` includes MLIR.
function(heddle_use_mlir target)
  cmake_parse_arguments(ARG "THROWING;RUNS_ONCE" "" "" ${ARGN})
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  if(ARG_THROWING)
    # -fPIC for executables too, whose own -fPIE the header would not fit.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fno-rtti -fPIC)
    target_precompile_headers(${target} REUSE_FROM HeddlePchThrowing)
    if(ARG_RUNS_ONCE) # with the header as it is precompiled for libraries
      target_compile_options(${target} PRIVATE ${HEDDLE_RUNS_ONCE} "$<$<CONFIG:Debug>:SHELL:-Xclang -fno-validate-pch>")
    endif()
  else()
    target_compile_options(${target} PRIVATE -fno-rtti -fno-exceptions)
    target_precompile_headers(${target} REUSE_FROM HeddlePch)
  endif()
endfunction()

# heddle_add_library(Name sources... [THROWING] [LINK_LIBS libs...] [DEPENDS targets...])
#   A static library that uses MLIR, a part of the shared one. THROWING: its errors are exceptions.
function(heddle_add_library name)
  cmake_parse_arguments(ARG "THROWING" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_THROWING)
    heddle_use_mlir(${name} THROWING)
  else()
    heddle_use_mlir(${name})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY HEDDLE_COMPILER_LIBRARIES ${name})
endfunction()

# heddle_add_plain_library(Name sources... [LINK_LIBS libs...])
#   A static library without LLVM (exceptions and RTTI on).
function(heddle_add_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  set_property(GLOBAL APPEND PROPERTY HEDDLE_PLAIN_LIBRARIES ${name})
endfunction()

# heddle_add_tool(name sources...)
#   An executable over the one shared library, which is also what a plugin that it loads was linked with.
function(heddle_add_tool name)
  add_executable(${name} ${ARGN})
  heddle_use_mlir(${name} THROWING RUNS_ONCE)
  heddle_link_shared(${name})
  heddle_use_allocator(${name})
  target_link_libraries(${name} PRIVATE MLIR LLVM)
endfunction()

# heddle_use_allocator(target): links tcmalloc, if it is installed, into an executable that runs the compiler: with
# glibc's allocator passes take a third longer. Sanitizers bring an allocator of their own.
find_library(HEDDLE_ALLOCATOR NAMES tcmalloc_minimal libtcmalloc_minimal.so.4)
function(heddle_use_allocator target)
  if(HEDDLE_ALLOCATOR AND NOT HEDDLE_SANITIZE)
    target_link_libraries(${target} PRIVATE -Wl,--push-state,--no-as-needed ${HEDDLE_ALLOCATOR} -Wl,--pop-state)
  endif()
endfunction()

# heddle_link_shared(target): `target` uses the one shared library, and is not linked anew when that is.
function(heddle_link_shared target)
  target_link_libraries(${target} PRIVATE heddle)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS_NO_SHARED ON)
endfunction()

# heddle_tablegen(Target file.td output arguments...)... is mlir_tablegen with this folder's generated
# files next to the sources they belong to; call heddle_tablegen_target(Target) last.
macro(heddle_tablegen td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN} -I ${PROJECT_SOURCE_DIR})
endmacro()
macro(heddle_tablegen_target name)
  add_public_tablegen_target(${name})
  add_dependencies(HeddlePch ${name})
  add_dependencies(HeddlePchThrowing ${name})
endmacro()
