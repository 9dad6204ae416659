// Runs the first entry of a program file on ones, with a memory manager of one's own. There is no
// compiler in this process, and no LLVM.
#include "heddle/Error.h"
#include "runtime/memory/MemoryManager.h"
#include "runtime/program/Program.h"

#include <cstdlib>
#include <iostream>

struct Counting : heddle::MemoryManager {
  int64_t requests = 0, bytesInUse = 0;

protected:
  void *obtain(int64_t bytes, int64_t alignment) override {
    ++requests;
    bytesInUse += bytes;
    return std::aligned_alloc(size_t(alignment),
                              size_t((bytes + alignment - 1) / alignment * alignment));
  }
  void release(void *address, int64_t bytes) override {
    bytesInUse -= bytes;
    std::free(address);
  }
};

static heddle::TensorRef ones(const heddle::ValueSpec &value) {
  auto tensor = std::make_shared<heddle::RuntimeTensor>(value.type, value.layout);
  std::vector<std::string> names;
  size_t count = 1;
  for (const auto &[name, size] : tensor->sizes()) {
    names.push_back(name);
    count *= size_t(size);
  }
  tensor->copyFrom(std::vector<float>(count, 1).data(), names);
  return tensor;
}

int main(int, char **argv) try {
  auto counting = std::make_shared<Counting>();
  heddle::setDefaultMemoryManager(counting);
  {
    auto program = heddle::Program::load(argv[1]);
    const heddle::EntrySpec &entry = program->manifest().entries.front();
    std::vector<heddle::TensorRef> arguments;
    for (int32_t index : entry.arguments)
      arguments.push_back(ones(entry.values[size_t(index)]));
    for (const heddle::TensorRef &result : program->run(entry, arguments, {.managed = true}))
      std::cout << describe(result->spec()) << " of " << result->bytes() << " bytes\n";
  }
  std::cout << "requests: " << (counting->requests > 1 ? "several" : "none") << "\n"
            << "in use at the end: " << counting->bytesInUse << "\n";
} catch (const heddle::Error &error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
