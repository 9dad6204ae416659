# Writes OUTPUT with hashes over the contents of all files in CODE_LIST, and of those in both CODE_LIST
# and PASSES_LIST (one path a line, relative to ROOT).
set(all "")
foreach(part CODE PASSES)
  file(STRINGS "${${part}_LIST}" sources)
  foreach(source ${sources})
    file(SHA256 "${ROOT}/${source}" hash)
    string(APPEND all "${source} ${hash}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING "${hash}" 0 16 ${part}_HASH)
endforeach()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY
  CONTENT "#define HEDDLE_VERSION \"${VERSION}\"
#define HEDDLE_CODE_HASH \"${CODE_HASH}\"
#define HEDDLE_COMPILER_HASH \"${PASSES_HASH}\"
")
