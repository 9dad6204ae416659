// A memory manager of one's own: it counts what every op asks for, and takes the memory from
// malloc.
#include "heddle/heddle.h"
#include "runtime/memory/MemoryManager.h"

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

int main() {
  auto counting = std::make_shared<Counting>();
  heddle::setDefaultMemoryManager(counting);
  {
    heddle::Name row("row"), column("column");
    auto f = heddle::jit([&](heddle::Tensor x) { return sum(exp(x), heddle::over(row)) * 2; },
                         {.managedMemory = true});
    heddle::Tensor x = heddle::Tensor::of<float>({0, 0, 0, 0, 0, 0}, {{row, 2}, {column, 3}});
    std::cout << f(x) << "\n";
    std::cout << "requests: " << (counting->requests > 1 ? "several" : "none") << "\n";
  }
  std::cout << "in use at the end: " << counting->bytesInUse << "\n";
}
