//===- Jit.cpp - compiled functions and gradients -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Jit.h"
#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdBuild.h"
#include "heddle/FastMath.h"
#include "lib/builder/CompileOnRanks.h"
#include "lib/builder/Execute.h"
#include "lib/builder/MeshCall.h"
#include "lib/pipelines/Extension.h"
#include "lib/profile/Profile.h"
#include "runtime/device/ThreadCount.h"
#include "runtime/memory/FileMemory.h"

#include "llvm/Support/Format.h"

#include <cmath>
#include <future>
#include <set>

using namespace heddle;
using namespace heddle::detail;

//===----------------------------------------------------------------------===//
// Compiled functions
//===----------------------------------------------------------------------===//

Tensor Argument::of(double number, Here here) {
  if (std::isfinite(number) && !std::isfinite(float(number))) {
    std::string message;
    llvm::raw_string_ostream(message)
        << "expected a number that f32 has, got " << llvm::format("%g", number)
        << "; Tensor::of<double>({number}, {}) is one of f64";
    fail(here, message);
  }
  return Tensor::of<float>({float(number)}, {}, here);
}
Tensor Argument::of(int64_t number, bool isPositive, Here here) {
  if (isPositive && number < 0)
    fail(here, "expected a number that i64 can represent, got " + std::to_string(uint64_t(number)) +
                   "; Tensor::of<uint64_t>({number}, {}) has type ui64");
  return Tensor::of<int64_t>({number}, {}, here);
}

void heddle::detail::requireArgumentNames(const std::vector<std::string> &names, size_t count,
                                          const std::string &function, Here here) {
  if (names.size() > count)
    fail(here, "expected names for the " + std::to_string(count) + " arguments of '" + function +
                   "' (JitOptions::arguments), got " + std::to_string(names.size()));
  std::set<std::string> seen;
  for (const std::string &name : names) {
    (void)Name(name, here); // throws for other characters
    if (!seen.insert(name).second)
      fail(here,
           "two arguments of '" + function + "' are called '" + name + "' (JitOptions::arguments)");
  }
}

namespace {
/// The trace of one signature.
struct Outline {
  std::vector<NodeRef> captured;
  std::vector<int> written; ///< for each leaf, the result that it becomes; -1: unchanged
  /// For each gradient, the written leaves with respect to which it was taken.
  std::vector<std::vector<size_t>> updated;
  size_t outputs = 0;
  std::vector<bool> given; ///< for each tensor of the result: not empty
  std::shared_ptr<const void> shape;
};

/// Throws Error for parameters that are one tensor, since an update would assign different values
/// to them.
void requireOwnTensors(const Outline &outline, const std::vector<Leaf> &leaves, Here here) {
  for (const std::vector<size_t> &updated : outline.updated) {
    llvm::DenseMap<Node *, size_t> seen;
    for (size_t i : updated)
      if (auto [found, isNew] = seen.try_emplace(leaves[i].tensor->node.get(), i); !isNew)
        fail(here, "'" + leaves[found->second].path + "' and '" + leaves[i].path +
                       "' are one tensor, and this call would assign different values to them: to "
                       "share weights, use one member twice; to start from equal values, give "
                       "each its own tensor, such as x * 1.0");
  }
}

/// The program of one signature; other threads may wait for it.
struct Compiled {
  Outline outline;
  ProgramImage image;              ///< for program files; set before `program`
  std::vector<std::string> checks; ///< messages of JitOptions::check
  std::shared_future<std::shared_ptr<Program>> program;
  uint32_t age = processAge();
};
} // namespace

/// The range of the symbol whose product with the divisor is the size.
static Range rangeOfSymbol(const SymbolicSize &size) {
  return {(size.low + size.divisor - 1) / size.divisor, size.high / size.divisor};
}

struct JitCore::Impl {
  JitOptions options;
  Here here; ///< source location of the call of jit
  Extensions extensions;
  MeshPlan plan; ///< from the mesh, the rules and the file
  /// The ranks that run the function together; they join at the first call.
  Ranks ranks(Here here) const { return options.ranks ? *options.ranks : Ranks::join("", here); }
  /// The ranks that compile the function together.
  Ranks ranksOf(Here here) const { return plan.mesh.empty() ? Ranks() : ranks(here); }

  ProgramImage compileFor(const Ranks &ranks, std::unique_ptr<PrivateModule> module,
                          const CompileOptions &asked, CompileStatistics &found, Here here) const {
    if (!ranks.job() || !ranks.job()->channel())
      return compile(std::move(module), asked, &found, here);
    return located(here, [&] {
      return compileOnRanks(*ranks.job(), options.name, *module->module, asked, found,
                            [&](const CompileOptions &agreed, CompileStatistics &counted) {
                              return compile(std::move(module), agreed, &counted, here);
                            });
    });
  }

  static std::string symbolOf(const Name &name) { return name.str() + "_size"; }

  /// The conditions on sizes, in terms of the symbols of arguments.
  void declareRanges(mlir::func::FuncOp function) const {
    mlir::Builder builder(function.getContext());
    mlir::NamedAttrList ranges;
    for (const SymbolicSize &size : options.symbolic) {
      auto has = [&](mlir::Type type) {
        auto extent = llvm::cast<nd::NdTensorType>(type).size(size.name.str());
        return extent && extent.getExpr().mentions(symbolOf(size.name));
      };
      auto [low, high] = rangeOfSymbol(size);
      if (llvm::any_of(function.getArgumentTypes(), has) && (low > 0 || high < largestSymbol))
        ranges.set(symbolOf(size.name), builder.getI64ArrayAttr({low, high}));
    }
    if (!ranges.empty())
      function->setAttr(nd::rangesAttrName, ranges.getDictionary(function.getContext()));
  }

  const SymbolicSize *findSymbolic(llvm::StringRef name) const {
    for (const SymbolicSize &size : options.symbolic)
      if (name == size.name.str())
        return &size;
    return nullptr;
  }

  /// The types that a program is compiled for: sizes of symbolic names become symbols.
  std::vector<nd::NdTensorType> programTypes(const std::vector<Leaf> &leaves, Here here) const {
    std::vector<nd::NdTensorType> types;
    for (const Leaf &leaf : leaves)
      types.push_back(nodeOf(*leaf.tensor, here)->type());
    if (options.symbolic.empty())
      return types;
    Sizes special = specialSizes(types);
    for (nd::NdTensorType &type : types) {
      llvm::SmallVector<nd::Dim> dims;
      for (const nd::Dim &dim : type.getDims()) {
        const SymbolicSize *symbolic = findSymbolic(dim.name.getValue());
        dims.push_back(
            symbolic ? nd::Dim(type.getContext(), dim.name.getValue(), sizeOf(*symbolic, special))
                     : dim);
      }
      type = type.withDims(dims);
    }
    return types;
  }

  /// Each symbolic name must be a name of an argument, or occur in the size of one.
  void requireSymbolicNames(llvm::ArrayRef<nd::NdTensorType> types, Here here) const {
    for (const SymbolicSize &size : options.symbolic) {
      bool isKnown =
          llvm::any_of(types, [&](nd::NdTensorType t) { return t.has(size.name.str()); });
      for (const SymbolicSize &other : options.symbolic)
        isKnown |= other.relation && other.relation->mentions(size.name.str());
      if (isKnown)
        continue;
      std::string text;
      for (nd::NdTensorType type : types)
        text += (text.empty() ? "" : ", ") + nd::namesText(type.getDims());
      fail(here, "expected an argument of '" + options.name + "' that has the name '" +
                     size.name.str() + "' (JitOptions::symbolic), got " +
                     (text.empty() ? "no arguments" : text));
    }
  }

  /// Numbers for the sizes of names.
  using Sizes = std::map<std::string, int64_t>;
  /// The specialised sizes that occur in arguments of these types, as the size of the name or in an
  /// expression.
  Sizes specialSizes(llvm::ArrayRef<nd::NdTensorType> types) const {
    Sizes chosen;
    for (const Extent &extent : options.specialised) {
      bool isSaid = false, isDenied = false;
      for (nd::NdTensorType type : types)
        for (const nd::Dim &dim : type.getDims()) {
          const SymbolicSize *symbolic = findSymbolic(dim.name.getValue());
          if (!symbolic)
            continue;
          Expr general = sizeOf(*symbolic, {}),
               own = sizeOf(*symbolic, {{extent.name.str(), extent.size}});
          if (general == own || !own.constant())
            continue;
          (own == dim.size().getExpr() ? isSaid : isDenied) = true;
        }
      if (isSaid && !isDenied)
        chosen[extent.name.str()] = extent.size;
    }
    return chosen;
  }

  /// The size as an expression over symbols, with numbers for those in `special`.
  Expr sizeOf(const SymbolicSize &size, const Sizes &special, size_t depth = 0) const {
    auto refuse = [&](const std::string &why) {
      fail(here, "the size of '" + size.name.str() + "' is declared as " + size.relation->str() +
                     ", " + why);
    };
    if (auto found = special.find(size.name.str()); found != special.end())
      return Expr(found->second);
    if (!size.relation)
      return Expr::name(symbolOf(size.name)) * Expr(size.divisor);
    if (depth > options.symbolic.size())
      refuse("which depends on itself");
    if (size.low != 0 || size.high != largestSymbol || size.divisor != 1)
      refuse("expected no other condition on it");
    Expr related = size.relation->substitute([&](const std::string &name) -> std::optional<Expr> {
      for (const SymbolicSize &other : options.symbolic)
        if (other.name.str() == name)
          return sizeOf(other, special, depth + 1);
      refuse("expected '" + name + "' among the symbolic names");
      return std::nullopt;
    });
    if (related.isTooLarge())
      refuse("expected " + Expr::limits() + " over the sizes of names without a relation");
    return related;
  }
  ForkMutex mutex; ///< guards the members below; no GraphLock is taken while it is held
  std::map<std::string, std::shared_ptr<const Compiled>> compiled;
  /// For each signature of tensors, the values that plain members had when it was traced.
  std::map<std::string, std::map<std::string, std::set<std::string>>> plainValues;
  JitStatistics statistics;

  struct TracedModule : Outline {
    mlir::OwningOpRef<mlir::ModuleOp> module;
  };

  std::string signatureOf(const std::vector<Leaf> &leaves, Here here) const {
    std::string signature;
    for (auto [leaf, type] : llvm::zip_equal(leaves, programTypes(leaves, here)))
      llvm::raw_string_ostream(signature) << leaf.path << type << ";";
    return signature;
  }
  std::string signatureOf(const Inputs &inputs, Here here) const {
    std::string signature = signatureOf(inputs.leaves, here);
    for (const auto &[path, text] : inputs.plain)
      signature += path + "=" + text + ";";
    return signature;
  }

  /// Throws Error for a plain member that changes from call to call, since each value costs a
  /// compilation.
  void requireFewValues(const Inputs &inputs, Here here) {
    constexpr size_t most = 8;
    std::string signature = signatureOf(inputs.leaves, here);
    std::lock_guard guard(mutex);
    for (const auto &[path, text] : inputs.plain)
      if (const auto &values = plainValues[signature][path];
          values.size() >= most && !values.contains(text))
        fail(here, "'" + options.name + "' was traced for " + std::to_string(most) +
                       " values of '" + path + "', a plain member of an argument: expected one " +
                       "of these, got " + text + "; a Tensor would be an input of one program");
  }
  void noteValues(const Inputs &inputs, Here here) {
    std::string signature = signatureOf(inputs.leaves, here);
    std::lock_guard guard(mutex);
    for (const auto &[path, text] : inputs.plain)
      plainValues[signature][path].insert(text);
  }

  std::shared_ptr<const Compiled> find(const std::string &signature) {
    std::lock_guard guard(mutex);
    auto found = compiled.find(signature);
    if (found == compiled.end())
      return nullptr;
    const Compiled &made = *found->second;
    // A compilation that a parent's thread was running at the fork is never finished in the child.
    bool left = made.age != processAge() &&
                made.program.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
    return left ? nullptr : found->second;
  }

  /// Traces and compiles for a new signature. No lock is held during compilation, so a thread that
  /// waits for it within a trace of its own cannot cause a deadlock.
  std::shared_ptr<const Compiled> make(const std::string &signature, Inputs &inputs,
                                       const Trace &function, Here here) {
    std::vector<Leaf> &leaves = inputs.leaves;
    auto made = std::make_shared<Compiled>();
    std::promise<std::shared_ptr<Program>> promise;
    std::unique_ptr<PrivateModule> module;
    {
      GraphLock lock;
      if (auto other = find(signature))
        return other;
      requireFewValues(inputs, here);
      TracedModule traced = trace(leaves, function, here);
      requireOwnTensors(traced, leaves, here);
      noteValues(inputs, here);
      module = copyModule(*traced.module, here);
      traced.module = nullptr;
      made->outline = std::move(traced);
      made->program = promise.get_future().share();
      std::lock_guard guard(mutex);
      compiled[signature] = made;
    }
    try {
      CompileStatistics found;
      CompileOptions asked = compileOptions(leaves, here);
      asked.check = options.check;
      ProgramImage image = compileFor(ranksOf(here), std::move(module), asked, found, here);
      made->checks = std::move(found.checks);
      auto program = located(here, [&] { return std::make_shared<Program>(image); });
      made->image = std::move(image);
      {
        std::lock_guard guard(mutex);
        statistics = {found.seconds, found.arenaBytes, found.liveBytes,
                      found.steps,   found.kernels,    found.cachedKernels};
      }
      promise.set_value(std::move(program));
    } catch (...) {
      {
        std::lock_guard guard(mutex);
        compiled.erase(signature);
      }
      promise.set_exception(std::current_exception());
    }
    return made;
  }

  /// Traces the function on formals of the leaves' types and restores the leaves.
  TracedModule trace(std::vector<Leaf> &leaves, const Trace &function, Here here) {
    GraphLock lock;
    TraceScope scope;
    std::vector<Tensor> actuals;
    std::vector<NodeRef> formals;
    std::vector<nd::NdTensorType> types = programTypes(leaves, here);
    requireSymbolicNames(types, here);
    std::set<std::string> paths;
    for (const Leaf &leaf : leaves)
      if (!paths.insert(leaf.path).second)
        fail(here, "two tensors among the arguments of '" + options.name + "' are called '" +
                       leaf.path + "': expected another name in JitOptions::arguments");
    for (auto [leaf, type] : llvm::zip_equal(leaves, types)) {
      actuals.push_back(*leaf.tensor);
      NodeRef formal = makeLeaf(type, here);
      formal->formal = true;
      formal->name = leaf.path;
      leaf.tensor->node = formal;
      formals.push_back(formal);
    }
    auto restore = [&] {
      for (size_t i = 0; i < leaves.size(); ++i)
        *leaves[i].tensor = actuals[i];
    };
    TracedModule traced;
    std::vector<NodeRef> roots;
    std::vector<std::string> names;
    try {
      Traced given = function();
      traced.shape = given.shape;
      if (!given.outputs.empty() &&
          llvm::none_of(given.outputs, [](const Output &output) { return !output.tensor.empty(); }))
        nodeOf(given.outputs[0].tensor, here); // throws
      for (const Output &output : given.outputs) {
        traced.given.push_back(!output.tensor.empty());
        if (output.tensor.empty())
          continue;
        roots.push_back(nodeOf(output.tensor, here));
        names.push_back(output.path);
      }
      traced.outputs = roots.size();
      for (size_t i = 0; i < leaves.size(); ++i) {
        bool changed = leaves[i].state && leaves[i].tensor->node != formals[i];
        traced.written.push_back(changed ? int(roots.size()) : -1);
        if (!changed)
          continue;
        NodeRef value = nodeOf(*leaves[i].tensor, here);
        if (value->type() != formals[i]->type())
          fail(here, "'" + leaves[i].path + "' is " + actuals[i].type() +
                         " and was assigned a value of type " + leaves[i].tensor->type());
        roots.push_back(value);
      }
      for (const std::vector<NodeRef> &together : scope.differentiated) {
        llvm::DenseSet<Node *> nodes;
        for (const NodeRef &node : together)
          nodes.insert(node.get());
        std::vector<size_t> &updated = traced.updated.emplace_back();
        for (size_t i = 0; i < leaves.size(); ++i)
          if (traced.written[i] >= 0 && nodes.contains(formals[i].get()))
            updated.push_back(i);
      }
    } catch (...) {
      restore();
      throw;
    }
    restore();
    traced.module = mlir::ModuleOp::create(locationOf(here));
    Emission emission = emit(*traced.module, options.name, formals, roots, here);
    traced.captured = emission.captured;
    if (plan.mesh.empty())
      dropConstraints(*traced.module);
    declareRanges(emission.function);
    mlir::Builder builder(graphContext());
    auto nameOf = [&](const std::string &text) { return builder.getStringAttr(text); };
    nd::setArgAttrs(emission.function, nd::nameAttrName, [&](unsigned i) {
      return nameOf(i < leaves.size() ? leaves[i].path
                                      : "captured" + std::to_string(i - leaves.size()));
    });
    nd::setArgAttrs(emission.function, "heddle.donate", [&](unsigned i) {
      return i < leaves.size() && traced.written[i] >= 0
                 ? builder.getI64IntegerAttr(traced.written[i])
                 : mlir::Attribute();
    });
    nd::setArgAttrs(emission.function, "nd.layout", [&](unsigned i) {
      return i < leaves.size() && traced.written[i] < 0 && leaves[i].kept ? nameOf("any")
                                                                          : mlir::Attribute();
    });
    // "result" for a single tensor, "result0", ... for those of a pair; renamed if state has the
    // same path.
    for (size_t i = 0; i < traced.outputs; ++i) {
      std::string &name = names[i];
      if (name.empty() || (name[0] >= '0' && name[0] <= '9'))
        name = "result" + name;
      for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
        if (traced.written[leaf] >= 0 && leaves[leaf].path == name)
          name = "result." + name;
    }
    names.resize(roots.size());
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
      if (traced.written[leaf] >= 0)
        names[size_t(traced.written[leaf])] = leaves[leaf].path;
    nd::setResultAttrs(emission.function, nd::nameAttrName,
                       [&](unsigned i) { return nameOf(names[i]); });
    return traced;
  }

  CompileOptions compileOptions(const std::vector<Leaf> &leaves, Here here) const {
    CompileOptions result;
    result.mesh = plan.mesh.str();
    for (const MeshRule &rule : plan.rules)
      if (!options.unmatchedRules || llvm::any_of(leaves, [&](const Leaf &leaf) {
            return rule.fits(leaf.path) &&
                   (rule.name.empty() || nodeOf(*leaf.tensor, here)->type().has(rule.name));
          }))
        result.shard.push_back(rule.commented());
    result.targetCpu = options.targetCpu;
    result.programThreads = options.threads > 0 ? options.threads : usualThreads();
    result.useCache = options.cache;
    result.onProgress = options.onProgress;
    result.extensions = extensions;
    result.fastMath = options.fastMath;
    result.products = options.products;
    return result;
  }
};

JitCore::JitCore(JitOptions options, Here here) : impl(std::make_unique<Impl>()) {
  impl->here = here;
  if (options.name.empty() || std::any_of(options.name.begin(), options.name.end(),
                                          [](unsigned char c) { return c < ' ' || c == '"'; }))
    fail(here, "expected printable characters, none of them a quote, as the name of a function "
               "(JitOptions::name), got '" +
                   options.name + "'");
  if (options.threads < 0 || options.threads > 1024)
    fail(here, "expected 0 to 1024 threads (JitOptions::threads), got " +
                   std::to_string(options.threads));
  for (const SymbolicSize &size : options.symbolic)
    if (auto [low, high] = rangeOfSymbol(size); low > high)
      fail(here, "no multiple of " + std::to_string(size.divisor) + " is a size of '" +
                     size.name.str() + "' from " + std::to_string(size.low) + " to " +
                     std::to_string(size.high));
  if (options.products && !isNarrowFloat(*options.products))
    fail(here, "expected a float type narrower than f32 for factors (JitOptions::products), got " +
                   std::string(spelling(*options.products)));
  for (const std::string &word : options.fastMath)
    if (unsigned granted = Strict; !permit(granted, word))
      fail(here,
           "expected one of " + fastMathList() + " in JitOptions::fastMath, got '" + word + "'");
  if (llvm::Error error = loadExtensions(options.plugins, impl->extensions))
    fail(here, llvm::toString(std::move(error)));
  impl->options = std::move(options);
  impl->plan = MeshPlan::of(impl->options.mesh, impl->options.rules, impl->options.plan, here);
  // A single function has neither an optimiser whose state could be split nor a batch to divide.
  for (const char *setting : {"zero", "micro-batches"})
    if (auto found = impl->plan.settings.find(setting); found != impl->plan.settings.end())
      fail(here, std::string("'") + setting + " " + found->second.first + "'" +
                     found->second.second + " is a setting of trainers (TrainerOptions::plan), " +
                     "which jit can't follow: expected a plan of `mesh` and rules");
  for (const SymbolicSize &size : impl->options.symbolic)
    impl->sizeOf(size, {}); // throws for contradictory relations
}
JitCore::~JitCore() = default;

JitStatistics JitCore::statistics() const {
  std::lock_guard guard(impl->mutex);
  return impl->statistics;
}

std::string JitCore::ir(Inputs inputs, const Trace &trace, Here here) {
  GraphLock lock;
  auto traced = impl->trace(inputs.leaves, trace, here);
  std::string text;
  llvm::raw_string_ostream stream(text);
  traced.module->print(stream);
  return text;
}

void JitCore::save(const std::string &path, Inputs inputs, const Trace &trace, Here here) {
  std::vector<Leaf> &leaves = inputs.leaves;
  // A call may have compiled the program for these types.
  auto compiled = impl->options.check ? nullptr : impl->find(impl->signatureOf(inputs, here));
  if (compiled && compiled->outline.captured.empty() && compiled->program.get()) {
    located(here, [&] { compiled->image.write(path); });
    return;
  }
  std::unique_ptr<PrivateModule> module;
  {
    GraphLock lock;
    Impl::TracedModule traced = impl->trace(leaves, trace, here);
    if (!traced.captured.empty())
      fail(
          here, "the function captures tensors, of which the first is " + [&] {
            Tensor tensor;
            tensor.node = traced.captured[0];
            return tensor.type();
          }() + "; a program file takes everything as an argument");
    module = copyModule(*traced.module, here);
  }
  ProgramImage image =
      compile(std::move(module), impl->compileOptions(leaves, here), nullptr, here);
  located(here, [&] { image.write(path); });
}

/// The tensor in `layout`. The packed copy is kept with the node for the next call.
static TensorRef packed(Node &node, const TensorRef &data, const Layout &layout) {
  if (data->layout() == layout)
    return data;
  GraphLock lock;
  if (!node.packed || node.packed->layout() != layout || node.packed->spec() != data->spec()) {
    node.packed = std::make_shared<RuntimeTensor>(data->spec(), layout);
    node.packed->copyFrom(*data);
  }
  return node.packed;
}

/// Moves the tensor to a file. The node then refers to the file, so that the memory is freed.
static TensorRef inFile(Node &node, const TensorRef &data, const ValueSpec &value) {
  if (data->memory() == fileMemoryName)
    return data;
  auto moved = std::make_shared<RuntimeTensor>(data->storedType(), fileMemory(),
                                               AllocationInfo{value.name, value.location});
  moved->copyFrom(*data);
  GraphLock lock;
  for (TensorRef *kept : {&node.data, &node.packed})
    if (*kept == data)
      *kept = moved;
  for (auto *split : {&node.split, &node.resplit})
    if (*split && (*split)->block == data) {
      auto with = std::make_shared<SplitTensor>(**split);
      with->block = moved;
      *split = std::move(with);
    }
  return moved;
}

/// Computes the values of arguments that have none yet, such as random weights, in one program.
/// Those that belong in files are computed later, one by one, since together they may exceed the
/// memory.
static void evaluateTogether(const std::vector<Leaf> &leaves, const EntrySpec &entry, Here here) {
  std::vector<NodeRef> nodes;
  {
    GraphLock lock;
    for (size_t i = 0; i < leaves.size(); ++i)
      if (const NodeRef &node = leaves[i].tensor->node;
          node && !node->isKnown() && node->donatedAt.empty() &&
          entry.values[size_t(entry.arguments[i])].memory.empty())
        nodes.push_back(node);
  }
  if (nodes.size() > 1)
    evaluate(nodes, here);
}

/// Throws Error for a variable that is passed as state twice, since it can hold only one formal
/// during the trace.
static void requireDistinctState(const std::vector<Leaf> &leaves, Here here) {
  llvm::DenseMap<Tensor *, const Leaf *> seen;
  for (const Leaf &leaf : leaves)
    if (auto [found, isNew] = seen.try_emplace(leaf.tensor, &leaf); !isNew)
      fail(here, "'" + found->second->path + "' and '" + leaf.path +
                     "' are one variable, which the function may update: expected two variables, "
                     "such as a copy");
}

/// Throws Error for the first failed check, if any; the last two results identify it.
static void requireChecked(const std::vector<std::string> &checks,
                           const std::vector<TensorRef> &results, Here here) {
  auto number = [&](size_t fromEnd) {
    int64_t value;
    results[results.size() - fromEnd]->copyTo(&value, {});
    return value;
  };
  if (int64_t failed = number(2); failed >= 0) {
    const std::string &message = checks[size_t(failed)];
    throw Error(message + (message.ends_with(' ') ? std::to_string(number(1)) : "") +
                (here.line() ? "; in the call at " + Error::sourceLocation(here) : ""));
  }
}

/// True if the call is within another trace. `lacksValues`: some argument is not computed yet.
static bool isTraced(const std::vector<Leaf> &leaves, bool &lacksValues) {
  GraphLock lock;
  bool traced = false;
  for (const Leaf &leaf : leaves) {
    lacksValues |= !leaf.tensor->node->isKnown();
    traced |= leaf.tensor->node->formal || (!leaf.tensor->node->isKnown() && [&] {
                for (const NodeRef &node : dependencies(
                         {leaf.tensor->node}, [](const NodeRef &n) { return n->isKnown(); }))
                  if (node->formal && !node->data)
                    return true;
                return false;
              }());
  }
  return traced;
}

/// The function's results within another trace.
static Returned inlined(const std::string &name, const Trace &trace, Here here) {
  static thread_local int depth = 0;
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } level;
  if (depth > 500)
    fail(here, "'" + name +
                   "' calls itself, or more than 500 functions call each "
                   "other: expected recursion to end when the functions are traced; forLoop and "
                   "whileLoop end when they run");
  Traced traced = trace();
  Returned returned{{}, traced.shape};
  for (const Output &output : traced.outputs)
    returned.tensors.push_back(output.tensor);
  return returned;
}

Returned JitCore::call(Inputs inputs, const Trace &trace, Here here) {
  std::vector<Leaf> &leaves = inputs.leaves;
  requireDistinctState(leaves, here);
  std::string signature = impl->signatureOf(inputs, here);
  bool lacksValues = false;
  if (isTraced(leaves, lacksValues))
    return inlined(impl->options.name, trace, here);
  auto compiled = impl->find(signature);
  if (!compiled)
    compiled = impl->make(signature, inputs, trace, here);
  const Outline &outline = compiled->outline;
  requireOwnTensors(outline, leaves, here);
  std::shared_ptr<Program> program = compiled->program.get();
  std::optional<MeshCall> split; // for a program on several ranks
  Ranks ranks;
  bool isForRanks = !program->manifest().mesh.axes.empty();
  if (isForRanks)
    ranks = impl->ranks(here);
  const EntrySpec &entry =
      program->entry(impl->options.name, ranks.job() ? ranks.job()->rank() : 0);
  if (lacksValues)
    evaluateTogether(leaves, entry, here);
  if (isForRanks) {
    std::vector<Tensor> whole;
    for (const Leaf &leaf : leaves)
      whole.push_back(*leaf.tensor);
    for (const NodeRef &node : outline.captured)
      whole.emplace_back().node = node;
    located(here, [&] { split.emplace(program->manifest(), entry, ranks.job(), whole, here); });
  }
  // A donated value must have no other owner among the arguments.
  std::vector<TensorRef> arguments;
  std::vector<bool> donate;
  std::map<RuntimeTensor *, int> uses;
  for (size_t i = 0; i < leaves.size(); ++i) {
    Node &node = *nodeOf(*leaves[i].tensor, here);
    bool isKept = leaves[i].kept && outline.written[i] < 0;
    if (!node.isKnown())
      leaves[i].tensor->data(here);
    TensorRef data =
        split ? split->argument(i, *leaves[i].tensor, isKept, here) : wholeOf(node, here);
    const ValueSpec &value = entry.values[size_t(entry.arguments[i])];
    if (isKept)
      data = packed(node, data, value.layout);
    if (value.memory == fileMemoryName)
      data = located(here, [&] { return inFile(node, data, value); });
    arguments.push_back(std::move(data));
    ++uses[arguments.back().get()];
  }
  for (const NodeRef &node : outline.captured) {
    if (!node->donatedAt.empty())
      fail(here,
           "a tensor that the function captures was donated to the call at " + node->donatedAt);
    Tensor tensor;
    tensor.node = node;
    arguments.push_back(split ? split->argument(arguments.size(), tensor, true, here)
                              : wholeOf(*node, here));
    ++uses[arguments.back().get()];
  }
  for (size_t i = 0; i < leaves.size(); ++i)
    donate.push_back(outline.written[i] >= 0 && uses[arguments[i].get()] == 1 &&
                     !impl->options.check);
  CallOptions options;
  if (split) { // ranks may share this process, so each has its own thread team
    options.job = ranks.job();
    options.supplied = split->supplied();
  }
  if (!options.job)
    options.team = located(here, [&] { return sharedThreadTeam(impl->options.threads); });
  options.managed = impl->options.managedMemory;
  if (impl->options.timeline)
    options.profile = impl->options.timeline->profile();
  std::vector<NodeRef> given;
  for (const Leaf &leaf : leaves)
    given.push_back(leaf.tensor->node);
  auto results = located(here, [&] { return program->run(entry, arguments, options, donate); });
  if (impl->options.check)
    requireChecked(compiled->checks, results, here);
  auto resultOf = [&](size_t i) {
    return split ? split->result(i, results[i], here) : Tensor::fromData(results[i], here);
  };
  Returned returned{{}, outline.shape};
  size_t next = 0;
  for (bool given : outline.given)
    returned.tensors.push_back(given ? resultOf(next++) : Tensor());
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (outline.written[i] < 0)
      continue;
    if (!arguments[i]->donatedTo.empty())
      given[i]->giveUp(Error::sourceLocation(here));
    *leaves[i].tensor = resultOf(size_t(outline.written[i]));
  }
  return returned;
}
