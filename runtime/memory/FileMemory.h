//===- FileMemory.h - tensors in files --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A memory manager for tensors that are larger than the memory. Each buffer is the mapping of an
// anonymous file in $HEDDLE_SPILL_DIR, else $TMPDIR, else /tmp. The system writes pages to the file
// when memory is scarce, and reads them back. The file disappears with the buffer, also if the
// process is killed.
//
//     auto moments = std::make_shared<RuntimeTensor>(spec, layout, fileMemory(), info);
//
// All bytes of a file are reserved before it is mapped. So on a full disk `allocate` throws an
// Error with the name of the tensor and the directory, instead of a signal when the tensor is
// written. Child processes of `fork` share the buffers with their parent.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_MEMORY_FILEMEMORY_H
#define HEDDLE_RUNTIME_MEMORY_FILEMEMORY_H

#include "runtime/memory/MemoryManager.h"

namespace heddle {

class FileManager : public MemoryManager {
public:
  std::string_view memory() const override { return fileMemoryName; }

protected:
  void *obtain(int64_t bytes, int64_t alignment) override;
  void release(void *address, int64_t bytes) override;
};

/// The manager of file-backed tensors of this process.
const std::shared_ptr<MemoryManager> &fileMemory();

} // namespace heddle

#endif // HEDDLE_RUNTIME_MEMORY_FILEMEMORY_H
