//===- heddle-mutate.cpp - mutants of the tests through the whole way -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `heddle-mutate CORPUS FAILURES --seconds N` changes the programs of a folder and sends those that
// verify through passes alone, both pipelines, code generation, the compiled program and the
// interpreter, as heddle-run --compare does. Whatever breaks off, hangs, or fails without a place
// is kept in FAILURES, a file each, and so are values that differ from the interpreter's; with
// --as-they-are it does that with the programs themselves.
//
// Work is done by a child that starts anew every few hundred programs: the parent knows what it was
// at when it died.
//
//===----------------------------------------------------------------------===//

#include "dialects/check/Check.h"
#include "heddle/Error.h"
#include "lib/analysis/Nesting.h"
#include "lib/pipelines/Compile.h"
#include "lib/support/LargeStack.h"
#include "test/fuzz/Mutate.h"
#include "tools/heddle-run/Run.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SourceMgr.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::fuzz;
using namespace mlir;

namespace {
/// What a child and its parent both see.
struct Shared {
  char stage[512], text[1 << 16];
  size_t length;
  double since; ///< when the stage began, in seconds
  long mutants, verified, refused, ran, agreed, passes, failures;
};
struct Settings {
  std::string corpus, failures;
  double seconds = 60, limit = 60;
  long verified = LONG_MAX;
  uint64_t seed = 0;
  bool asTheyAre = false;
};
} // namespace

static Shared *shared;
/// A program with a loop may be one that has no end.
static constexpr const char *loopStage = "run a loop";

static double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

static void enter(const std::string &stage) {
  snprintf(shared->stage, sizeof(shared->stage), "%s", stage.c_str());
  shared->since = now();
}

static std::string contents(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

namespace {
/// Sends programs along; what went wrong without an end of the process is `faults`.
class Traveller {
public:
  Traveller(const Settings &settings) : settings(settings), log(settings.failures + "/log") {
    registerCompilerDialects(registry);
    registry.insert<check::CheckDialect>();
    for (const char *name : {"nd-merge-functions",
                             "nd-simplify",
                             "nd-cse",
                             "nd-hoist",
                             "nd-differentiate",
                             "nd-inline-calls",
                             "symbol-dce",
                             "require-sizes",
                             "nd-expand",
                             "nd-expand-control-flow",
                             "nd-fold-pad-into-window",
                             "nd-outline-control",
                             "neutral-names",
                             "restore-names",
                             "convert-nd-to-nest",
                             "cse",
                             "canonicalize",
                             "order-reads",
                             "nest-fuse",
                             "nest-choose-groups",
                             "nest-form-groups",
                             "nest-materialize-guards",
                             "nest-cse",
                             "nest-flatten-reductions",
                             "nest-fuse-epilogues",
                             "nest-fuse-producers",
                             "nest-fuse-siblings",
                             "nest-split-reductions",
                             "nest-drop-after",
                             "nest-assign-layouts",
                             "nd-pipeline",
                             "nest-pipeline"})
      if (PassPipelineInfo::lookup(name) || PassInfo::lookup(name))
        passes.push_back(name);
    newContext();
  }

  /// None if the text is refused.
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    if (++parsed % 200 == 0)
      newContext();
    if (findTooDeep(text).second)
      return {};
    ScopedDiagnosticHandler quiet(context.get(), [](Diagnostic &) {});
    auto module = parseSourceString<ModuleOp>(text, context.get());
    return module && succeeded(requireShallow(*module)) ? std::move(module)
                                                        : OwningOpRef<ModuleOp>();
  }

  /// All ways for a module that verifies. `every`: each pass alone, else some.
  std::string travel(ModuleOp module, const std::string &text, Random &random, bool every) {
    std::string faults;
    ++shared->verified;
    auto tell = [&](const std::string &fault) {
      if (!fault.empty())
        faults += fault + "\n";
    };
    if (every)
      for (const std::string &pass : passes)
        tell(runPasses(module, {pass}));
    for (int sequences = every ? 20 : 2; sequences > 0; --sequences) {
      std::vector<std::string> some;
      for (size_t count = 1 + below(random, 4); count > 0; --count)
        some.push_back(passes[below(random, passes.size())]);
      tell(runPasses(module, some));
    }
    tell(runWhole(module, text, random));
    return faults;
  }

  std::unique_ptr<MLIRContext> context;

private:
  const Settings &settings;
  std::string log; ///< where standard error goes
  DialectRegistry registry;
  std::vector<std::string> passes;
  int parsed = 0;

  void newContext() {
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->printOpOnDiagnostic(false);
    context->loadAllAvailableDialects();
  }

  /// Passes one after another, each verified.
  std::string runPasses(ModuleOp module, const std::vector<std::string> &names) {
    ++shared->passes;
    enter("passes " + llvm::join(names, " "));
    OwningOpRef<ModuleOp> copy(module.clone());
    int errors = 0, placed = 0;
    ScopedDiagnosticHandler count(context.get(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return;
      ++errors;
      placed += !isa<UnknownLoc>(diagnostic.getLocation());
    });
    for (const std::string &name : names) {
      PassManager manager(context.get(), ModuleOp::getOperationName(),
                          PassManager::Nesting::Implicit);
      const PassRegistryEntry *entry = PassPipelineInfo::lookup(name);
      if (!entry)
        entry = PassInfo::lookup(name);
      if (failed(entry->addToPipeline(manager, "", [](const Twine &) { return failure(); })))
        return name + " is no pass";
      if (failed(manager.run(*copy)))
        return errors == 0   ? name + " fails without a message"
               : placed == 0 ? name + " fails without a place"
                             : "";
    }
    return "";
  }

  /// The program as heddle-run runs it, with numbers for its symbols.
  std::string runWhole(ModuleOp module, const std::string &text, Random &random) {
    run::Options options;
    options.input = settings.failures + "/program.mlir";
    options.compare = true;
    options.threads = options.compile.programThreads = 1 + int(below(random, 3));
    options.compile.compileThreads = 1;
    options.compile.cacheDirectory = settings.failures + "/cache";
    options.compile.progress = false;
    std::set<std::string> symbols;
    double most = 0;
    AttrTypeWalker walker;
    walker.addWalk([&](nd::DimsAttr dims) {
      double count = 1;
      for (const nd::Dim &dim : dims) {
        for (const std::string &symbol : dim.size().getExpr().names())
          symbols.insert(symbol);
        count *= double(dim.size().getExpr().constant().value_or(8));
      }
      most = std::max(most, count);
    });
    module.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        walker.walk(type);
      walker.walk(op->getAttrDictionary());
    });
    for (const std::string &symbol : symbols)
      options.sizes.push_back(symbol + "=" + std::to_string(below(random, 12)));
    std::ofstream(options.input) << text;
    bool mayLoop = module
                       .walk([](Operation *op) {
                         return isa<scf::WhileOp, nest::ControlOp>(op) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
                       })
                       .wasInterrupted();
    enter(most > 1e5 ? "compile" : mayLoop ? loopStage : "run");
    if (ftruncate(2, 0) == 0)
      lseek(2, 0, SEEK_SET);
    bool isFine = false;
    try {
      if (most > 1e5) { // too large to be run
        OwningOpRef<ModuleOp> copy(module.clone());
        SourceMgrDiagnosticHandler handler(sources, context.get());
        isFine = succeeded(compileProgram(*copy, options.compile));
      } else {
        isFine = run::runIr(options);
        ++shared->ran;
      }
    } catch (const std::exception &error) {
      ++shared->refused;
      return "";
    }
    shared->agreed += isFine && most <= 1e5;
    if (isFine)
      return "";
    ++shared->refused;
    std::string said = contents(log);
    if (StringRef(said).contains("differs from the interpreter"))
      return "values differ\n" + said;
    if (StringRef(said).contains("hang on choices within the error bounds"))
      return "";
    if (!StringRef(said).contains("error:"))
      return "fails without a message";
    bool isPlaced = StringRef(said).contains(".mlir:") || StringRef(said).contains("loc(\"-\"");
    return isPlaced || most > 1e5 ? "" : "fails without a place: " + said.substr(0, 100);
  }
  llvm::SourceMgr sources;
};
} // namespace

//===----------------------------------------------------------------------===//
// A child
//===----------------------------------------------------------------------===//

/// Keeps a program that fails in a file that is called after what it does; a few for each failure.
static void keep(const Settings &settings, const std::string &what) {
  std::string text(shared->text, shared->length);
  std::string name = what.substr(0, what.find('\n')).substr(0, 90);
  for (char &c : name)
    c = std::isalnum((unsigned char)c) || c == '.' ? c : '-';
  std::string number = std::to_string(std::hash<std::string>()(text) % 100000);
  // Combiners and neutral elements of mutants need not be such: then any value is right.
  bool isCertain = !StringRef(what).starts_with("values differ");
  shared->failures += isCertain;
  int already = 0;
  for (auto &entry : std::filesystem::directory_iterator(settings.failures))
    already += entry.path().filename().string().starts_with(name + "-");
  if (already >= 4)
    return;
  std::ofstream file(settings.failures + "/" + name + "-" + number + ".mlir");
  std::string commented = "// " + std::string(shared->stage) + "\n// " + what.substr(0, 2000);
  for (size_t i = commented.find('\n', 4); i != std::string::npos; i = commented.find('\n', i + 4))
    commented.insert(i + 1, commented.substr(i + 1, 3) == "// " ? "" : "// ");
  file << commented << "\n" << text;
  std::cout << name << "\n" << std::flush; // of a child nobody sees it
}

/// Sends `text` along if it verifies; false if it does not.
static bool send(const Settings &settings, Traveller &traveller, const std::string &text,
                 Random &random) {
  if (text.size() >= sizeof(shared->text))
    return false;
  memcpy(shared->text, text.data(), text.size());
  shared->length = text.size();
  enter("parser");
  OwningOpRef<ModuleOp> module = traveller.parse(text);
  if (!module)
    return false;
  std::string faults = traveller.travel(*module, text, random, settings.asTheyAre);
  if (!faults.empty())
    keep(settings, faults);
  return true;
}

static void work(const Settings &settings, const std::vector<std::string> &corpus, uint64_t seed) {
  rlimit memory{rlim_t(6) << 30, rlim_t(6) << 30};
  setrlimit(RLIMIT_AS, &memory);
  Random random(seed);
  Traveller traveller(settings);
  if (settings.asTheyAre)
    return void(send(settings, traveller, corpus[size_t(seed - settings.seed)], random));
  std::vector<std::string> pool;
  for (int i = 0; i < 400; ++i) {
    enter("mutation");
    shared->length = 0;
    const std::string &base = !pool.empty() && below(random, 3) == 0
                                  ? pool[below(random, pool.size())]
                                  : corpus[below(random, corpus.size())];
    std::string text = base;
    for (size_t count = 1 + below(random, 3); count > 0; --count) {
      if (below(random, 2) == 0) {
        text = mutateText(text, corpus, random);
        continue;
      }
      OwningOpRef<ModuleOp> module = traveller.parse(text);
      if (!module)
        break;
      ScopedDiagnosticHandler quiet(traveller.context.get(), [](Diagnostic &) {});
      shared->length = std::min(text.size(), sizeof(shared->text));
      memcpy(shared->text, text.data(), shared->length);
      mutateModule(*module, random);
      if (failed(verify(*module)))
        break;
      text.clear();
      llvm::raw_string_ostream(text) << *module;
    }
    ++shared->mutants;
    if (text != base && send(settings, traveller, text, random) && text.size() < 6000)
      pool.push_back(text);
  }
}

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

/// Why the child died, and where.
static std::string reasonOf(const std::string &log, int status) {
  std::string frames;
  for (StringRef line : llvm::split(StringRef(log), '\n'))
    if (line.ltrim().starts_with("#") && (line.contains("/dialects/") || line.contains("/lib/")) &&
        !line.contains("/usr/") && frames.size() < 1500)
      frames += "\n" + line.trim().str();
  for (StringRef line : llvm::split(StringRef(log), '\n'))
    for (StringRef word : {"Assertion", "LLVM ERROR", "UNREACHABLE", "AddressSanitizer", "what():"})
      if (size_t at = line.find(word); at != StringRef::npos) {
        size_t slash = line.take_front(at).rfind('/');
        return line.drop_front(slash == StringRef::npos ? 0 : slash + 1).str() + frames;
      }
  return "signal " + std::to_string(WTERMSIG(status)) + " in " + shared->stage + frames;
}

static void parent(const Settings &settings, const std::vector<std::string> &corpus) {
  double end = now() + settings.seconds;
  uint64_t seed = settings.seed;
  std::string log = settings.failures + "/log";
  while (now() < end && shared->verified < settings.verified &&
         (!settings.asTheyAre || seed - settings.seed < corpus.size())) {
    enter("start");
    pid_t child = fork();
    if (child == 0) {
      if (!freopen(log.c_str(), "w+", stderr) || !freopen("/dev/null", "w", stdout))
        _exit(1);
      onLargeStack([&] { work(settings, corpus, seed); });
      _exit(0);
    }
    ++seed;
    int status = 0;
    bool isLate = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
      usleep(20000);
      isLate = now() - shared->since > settings.limit;
      if (isLate || now() > end + 5) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        break;
      }
    }
    if (isLate && std::string(shared->stage) == loopStage)
      continue;
    if (isLate)
      keep(settings, "no end of " + std::string(shared->stage));
    else if (now() < end && (WIFSIGNALED(status) || WEXITSTATUS(status) != 0))
      keep(settings, reasonOf(contents(log), status));
  }
}

int main(int argc, char **argv) {
  Settings settings;
  CLI::App app("Sends mutants of programs through all that the compiler does.", "heddle-mutate");
  app.add_option("corpus", settings.corpus, "A folder of programs, or one")->required();
  app.add_option("failures", settings.failures, "A folder for what fails")->required();
  app.add_option("--seconds", settings.seconds, "How long (60)");
  app.add_option("--limit", settings.limit, "The most seconds of one stage (60)");
  app.add_option("--verified", settings.verified, "Stop after so many programs that verify");
  app.add_option("--seed", settings.seed, "Other mutants (0)");
  app.add_flag("--as-they-are", settings.asTheyAre,
               "Programs of the corpus as they are, through each pass alone");
  CLI11_PARSE(app, argc, argv);
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  std::filesystem::create_directories(settings.failures);
  registerCompilerPasses();
  shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<std::string> corpus, paths;
  if (std::filesystem::is_directory(settings.corpus))
    for (auto &entry : std::filesystem::directory_iterator(settings.corpus))
      paths.push_back(entry.path());
  else
    paths.push_back(settings.corpus);
  std::sort(paths.begin(), paths.end());
  for (const std::string &path : paths)
    corpus.push_back(contents(path));
  parent(settings, corpus);
  std::cout << shared->mutants << " mutants, " << shared->verified << " verify: of these "
            << shared->ran << " ran, " << shared->agreed << " agree, " << shared->refused
            << " were refused; " << shared->passes << " sequences of passes; " << shared->failures
            << " failures, in " << settings.failures << "\n";
  return shared->failures > 0;
}
