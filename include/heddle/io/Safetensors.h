//===- Safetensors.h - read and write safetensors files ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A safetensors file holds named arrays: eight bytes with the length of a JSON header, the header,
// and the data. The header lists the type, shape and offsets of each array, and may hold a map of
// strings, the metadata:
//
//     {"__metadata__": {"epoch": "3", "names:w": "in,out"},
//      "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
//
// The key "names:w" of the metadata lists the names of the axes of the array "w". The key
// "heddle.crc32" may list a CRC-32 checksum of each array, in the order of their data, and
// "heddle.crc32.metadata" one of the other metadata; readers verify those that are present. To
// other programs this is an ordinary safetensors file; one that changes arrays or metadata has to
// remove these keys.
//
// Several files may hold many arrays, with an index, a JSON file whose name ends in ".json":
//
//     {"metadata": {"epoch": "3"}, "weight_map": {"w": "net-1-00001-of-00002.safetensors", ...}}
//
// Files are written and read array by array, so that only the arrays that the caller holds are in
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_SAFETENSORS_H
#define HEDDLE_IO_SAFETENSORS_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

#include <functional>
#include <map>
#include <memory>

namespace heddle::io {

/// The contents of a file: arrays by name, and metadata.
struct Safetensors {
  std::map<std::string, HostArray, std::less<>> arrays;
  std::map<std::string, std::string, std::less<>> metadata;
  bool checksums = false; ///< the file has one for each array

  /// The array called `name`. Throws Error that lists the names of all arrays if there is none.
  const HostArray &at(std::string_view name, Here here = Here::current()) const;
};

/// A file, or an index and its files, open for reading.
class SafetensorsFile {
public:
  /// Reads and checks the headers. Throws Error that names the file and the array unless lengths,
  /// shapes and element types agree, the arrays fill the data without gaps or overlaps, and names
  /// are unique.
  explicit SafetensorsFile(const std::string &path, Here here = Here::current());
  ~SafetensorsFile();

  /// Metadata, and arrays without their bytes.
  const Safetensors &header() const;
  /// One of the arrays. Throws Error if it can't be read, or if its checksum does not match.
  HostArray read(const std::string &name, Here here = Here::current()) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Reads a file, or an index and its files, with all arrays. Throws Error as SafetensorsFile does.
Safetensors readSafetensors(const std::string &path, Here here = Here::current());

/// Writes the file `path`, atomically (AtomicFile.h). Equal contents give equal bytes. Throws Error
/// for names and metadata that are not UTF-8, and for reserved names: "__metadata__" for arrays,
/// those that begin with "heddle.crc32" or "names:" for metadata. A device or a pipe gets no
/// checksums of arrays.
void writeSafetensors(const std::string &path, const Safetensors &contents,
                      Here here = Here::current());

/// Returns an array with its bytes; called once for each array, in the order in which they are
/// written.
using ArraySource = std::function<HostArray(const std::string &name)>;
/// The same, where `header` has arrays without bytes and `source` supplies them one by one.
void writeSafetensors(const std::string &path, const Safetensors &header, const ArraySource &source,
                      Here here = Here::current());
/// Writes an index `path`, NAME.index.json, and files NAME-1-00001-of-00003.safetensors beside it
/// of about `bytesPerFile` bytes; each array is in one file. The files of an older index, which
/// have other numbers, are removed when the new index is complete. If two processes write one
/// index, the later one replaces the files of the other.
void writeSafetensorsFiles(const std::string &path, const Safetensors &header,
                           const ArraySource &source, int64_t bytesPerFile,
                           Here here = Here::current());

} // namespace heddle::io

#endif // HEDDLE_IO_SAFETENSORS_H
