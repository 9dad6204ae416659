# Writes OUTPUT with a hash over the contents of all files in LIST (one path a line, relative to ROOT).
file(STRINGS "${LIST}" sources)
set(all "")
foreach(source ${sources})
  file(SHA256 "${ROOT}/${source}" hash)
  string(APPEND all "${source} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 16 hash)
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY
  CONTENT "#define HEDDLE_VERSION \"${VERSION}\"\n#define HEDDLE_SOURCE_HASH \"${hash}\"\n")
