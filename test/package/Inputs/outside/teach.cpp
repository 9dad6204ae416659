// Builds a program of named tensors, runs it, and writes it to a file.
#include "heddle/heddle.h"
#include "heddle/nn/MeshFlags.h"

#include <iostream>

using namespace heddle;

int main(int argc, char **argv) {
  nn::MeshFlags::take(argc, argv); // those of training on several ranks
  Name row("row"), column("column");
  auto weigh = jit([&](Tensor table, Tensor weight) { return sum(table * weight, over(column)); },
                   {.name = "weigh"});
  Tensor table = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {{row, 2}, {column, 3}});
  Tensor weight = Tensor::of<float>({1, 10, 100}, {{column, 3}});
  for (float value : weigh(table, weight).to<float>({row}))
    std::cout << value << "\n";
  if (argc > 1)
    weigh.save(argv[1], table, weight);
}
