// Nests that are a matrix product of row-major f32 matrices run a kernel written in C.
#include "lib/pipelines/Extension.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::nest;

namespace {
const unsigned char kernels[] = {
#include "matmul-in-c.inc"
};

/// True if the body is `a * b` and the combiner `+`.
bool isProductSum(ComputeOp nest) {
  auto onlyOp = [](mlir::Region &region) -> mlir::Operation * {
    auto ops = region.front().without_terminator();
    return llvm::hasSingleElement(ops) ? &*ops.begin() : nullptr;
  };
  return llvm::isa_and_nonnull<mlir::arith::MulFOp>(onlyOp(nest.getBody())) &&
         !nest.getCombine().empty() &&
         llvm::isa_and_nonnull<mlir::arith::AddFOp>(onlyOp(nest.getCombine()));
}

struct MatmulInC : Extension {
  std::optional<CustomKernel> makeKernel(const KernelRequest &request,
                                         const Target &) const override {
    auto nest = mlir::dyn_cast<ComputeOp>(request.nest);
    if (!nest || nest.getProduced().size() != 2 || nest.getReduced().size() != 1 ||
        nest.getReads().size() != 2 || nest->getNumResults() != 1 || !nest.getFinish().empty() ||
        !isProductSum(nest))
      return std::nullopt;
    // The result says which name is the row; operands must lie in that order, each read plainly.
    std::string k = nest.getReduced().begin()->name.str();
    std::string m = nest.getProduced().begin()->name.str();
    std::string n = std::next(nest.getProduced().begin())->name.str();
    if (request.resultLayouts[0] == Layout::rowMajor({n, m}))
      std::swap(m, n);
    // A kernel's operands have names of their own, which the nest's maps take to those of its
    // space.
    auto lies = [&](unsigned read, const std::vector<std::string> &names) {
      std::map<std::string, std::string, std::less<>> toSpace;
      for (const MapEntry &entry : nest.readMap(read).getEntries())
        if (std::optional<std::string> plain = entry.expr().asName())
          toSpace[entry.name.str()] = *plain;
      auto type = mlir::cast<nd::NdTensorType>(nest.getReads()[read].getType());
      return type.getElementType().isF32() && nest.readGuard(read).isTrivial() &&
             toSpace.size() == type.getDims().size() &&
             request.operandLayouts[read].rename(toSpace) == Layout::rowMajor(names);
    };
    if (!(request.resultLayouts[0] == Layout::rowMajor({m, n})) || !lies(0, {m, k}) ||
        !lies(1, {k, n}))
      return std::nullopt;
    CustomKernel kernel;
    kernel.function = "matmul_rows";
    kernel.objects = {{"matmul.c", std::string(kernels, kernels + sizeof kernels)}};
    kernel.numbers = {*nest.getProduced().lookup(m).constant(),
                      *nest.getProduced().lookup(n).constant(),
                      *nest.getReduced().lookup(k).constant()};
    kernel.chunks = kernel.numbers[0];
    return kernel;
  }
};
} // namespace

HEDDLE_EXTENSION(MatmulInC)
