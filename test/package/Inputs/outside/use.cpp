// Runs a program file through the C++ face of the runtime.
#include "heddle/runtime.h"

#include <iostream>

using namespace heddle::runtime;

int main(int, char **argv) try {
  Program program(argv[1]);
  std::map<std::string, Tensor> arguments;
  for (const Value &value : program.arguments("weigh")) {
    std::cout << value.name << ":";
    std::vector<std::string> order;
    for (const Dim &dim : value.dims) {
      std::cout << " " << dim.name << " " << dim.size;
      order.push_back(dim.name);
    }
    std::cout << "\n";
    Tensor tensor(value.element, value.dims, value.layout);
    std::vector<float> values(static_cast<size_t>(tensor.count()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(i + 1);
    tensor.copyFrom(values.data(), order);
    arguments.emplace(value.name, tensor);
  }
  for (const auto &[name, tensor] : program.run("weigh", arguments, {.threads = 2}))
    for (float value : tensor.to<float>({"row"}))
      std::cout << value << "\n";
} catch (const heddle::Error &error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
