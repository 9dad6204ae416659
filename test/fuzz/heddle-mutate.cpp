//===- heddle-mutate.cpp - sends mutants of tests through all stages ------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `heddle-mutate CORPUS FAILURES --seconds N` changes the programs of a folder and sends those that
// verify through passes alone, both pipelines, code generation, the compiled program and the
// interpreter, as heddle-run --compare does. Each program that crashes, hangs, or fails without a
// source location is kept as a file in FAILURES, and so is one whose values differ from the
// interpreter's; --as-they-are does so with the unchanged programs.
//
// A child process, restarted every few hundred programs, does the work: the parent knows its stage
// when it dies.
//
//===----------------------------------------------------------------------===//

#include "dialects/check/Check.h"
#include "heddle/Error.h"
#include "lib/analysis/Nesting.h"
#include "lib/compile/Compile.h"
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
/// Memory that a child shares with its parent.
struct Shared {
  char stage[512], text[1 << 16];
  size_t length;
  double since, spent; ///< in seconds: when the stage began, and the child's CPU time then
  long mutants, verified, compiled, ran, agreed, refused, passes, failures;
};
struct Settings {
  std::string corpus, failures;
  double seconds = 60, limit = 60;
  long mutants = LONG_MAX;
  uint64_t seed = 0;
  bool asTheyAre = false;
};
} // namespace

static Shared *shared;
/// The stage of a program with a loop, which may not terminate.
static constexpr const char *loopStage = "run a loop";

static double secondsOn(clockid_t clock) {
  timespec time;
  if (clock_gettime(clock, &time) != 0)
    return 0;
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}
static double now() { return secondsOn(CLOCK_MONOTONIC); }

static void enter(const std::string &stage) {
  snprintf(shared->stage, sizeof(shared->stage), "%s", stage.c_str());
  shared->since = now();
  shared->spent = secondsOn(CLOCK_PROCESS_CPUTIME_ID);
}

static std::string contents(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

namespace {
/// Seconds for a program with a loop, which may not terminate; exceeding them is no fault.
constexpr double loopLimit = 5;
/// Programs with more points in the space of one op are compiled, and not run.
constexpr double mostPoints = 1e5;

/// The symbols in a program's sizes, and how many points the largest space of an op has if each
/// symbol is 8.
std::pair<std::set<std::string>, double> sizesOf(ModuleOp module) {
  std::set<std::string> symbols;
  double most = 0;
  module.walk([&](Operation *op) {
    std::map<StringRef, double> space;
    AttrTypeWalker walker;
    walker.addWalk([&](nd::DimsAttr dims) {
      for (const nd::Dim &dim : dims) {
        for (const std::string &symbol : dim.size().getExpr().names())
          symbols.insert(symbol);
        double &size = space[dim.name.getValue()];
        size = std::max(size, double(dim.size().getExpr().constant().value_or(8)));
      }
    });
    for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
      for (Type type : types)
        walker.walk(type);
    walker.walk(op->getAttrDictionary());
    if (isa<func::FuncOp>(op)) // its arguments have a space each
      return;
    double points = 1;
    for (auto &[name, size] : space)
      points *= size;
    most = std::max(most, points);
  });
  return {symbols, most};
}

/// In the message of `verify-rules`.
constexpr llvm::StringLiteral illegalRule = "expected legal ops after each rule";

/// Sends programs through all stages; `faults` has the failures that did not end the process.
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
                             "nd-require-sizes",
                             "nd-expand",
                             "nd-expand-control-flow",
                             "nd-fold-pad-into-window",
                             "nd-outline-control",
                             "nd-neutral-names",
                             "nd-restore-names",
                             "convert-nd-to-nest",
                             "cse",
                             "canonicalize",
                             "nest-order-reads",
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
                             "nest-prepare-steps",
                             "nest-plan-memory",
                             "nest-choose-schedules",
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

  /// Runs all stages on a module that verifies. `every`: each pass alone, else some.
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
  std::string log; ///< the file that gets standard error
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
    std::string illegal;
    ScopedDiagnosticHandler count(context.get(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return;
      ++errors;
      placed += !isa<UnknownLoc>(diagnostic.getLocation());
      if (std::string said = diagnostic.str(); StringRef(said).contains(illegalRule))
        illegal = said;
    });
    for (const std::string &name : names) {
      PassManager manager(context.get(), ModuleOp::getOperationName(),
                          PassManager::Nesting::Implicit);
      const PassRegistryEntry *entry = PassPipelineInfo::lookup(name);
      if (!entry)
        entry = PassInfo::lookup(name);
      StringRef options = name == "nd-simplify" ? "verify-rules" : "";
      if (failed(entry->addToPipeline(manager, options, [](const Twine &) { return failure(); })))
        return name + " is no pass";
      if (failed(manager.run(*copy)))
        return !illegal.empty() ? illegal
               : errors == 0    ? name + " fails without a message"
               : placed == 0    ? name + " fails without a place"
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
    auto [symbols, most] = sizesOf(module);
    for (const std::string &symbol : symbols)
      options.sizes.push_back(symbol + "=" + std::to_string(below(random, 12)));
    std::ofstream(options.input) << text;
    bool mayLoop = module
                       .walk([](Operation *op) {
                         return isa<scf::WhileOp, nest::ControlOp>(op) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
                       })
                       .wasInterrupted();
    bool isLarge = most > mostPoints;
    enter(isLarge ? "compile" : mayLoop ? loopStage : "run");
    if (ftruncate(2, 0) == 0)
      lseek(2, 0, SEEK_SET);
    bool isFine = false;
    try {
      if (isLarge) {
        OwningOpRef<ModuleOp> copy(module.clone());
        SourceMgrDiagnosticHandler handler(sources, context.get());
        isFine = succeeded(compileProgram(*copy, options.compile));
      } else {
        isFine = run::runIr(options);
      }
    } catch (const Error &error) { // describes an error in the command or the sizes
      ++shared->refused;
      return "";
    }
    std::string said = contents(log);
    bool differs = StringRef(said).contains("differs from the interpreter"),
         isOpen = StringRef(said).contains("elements can't be compared");
    if (isFine || differs || isOpen) {
      ++shared->compiled;
      shared->ran += !isLarge;
      shared->agreed += isFine && !isLarge;
      return differs ? "values differ\n" + said : "";
    }
    ++shared->refused;
    if (!StringRef(said).contains("error:"))
      return "fails without a message";
    bool isPlaced = StringRef(said).contains(".mlir:") || StringRef(said).contains("loc(\"-\"");
    return isPlaced || isLarge ? "" : "fails without a place: " + said.substr(0, 100);
  }
  llvm::SourceMgr sources;
};
} // namespace

//===----------------------------------------------------------------------===//
// A child
//===----------------------------------------------------------------------===//

/// Writes a failing program to a file named after the failure; a few for each failure.
static void keep(const Settings &settings, const std::string &what) {
  std::string text(shared->text, shared->length);
  std::string name = what.substr(0, what.find('\n')).substr(0, 90);
  for (char &c : name)
    c = std::isalnum((unsigned char)c) || c == '.' ? c : '-';
  std::string number = std::to_string(std::hash<std::string>()(text) % 100000);
  // Combiners and neutral elements of mutants may be invalid: any value is right. And contributions
  // to a gradient are summed in an order that simplification before differentiation may change.
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
  std::cout << name << "\n" << std::flush; // invisible for a child
}

/// Sends `text` through all stages if it verifies; false if it does not.
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

/// Returns the reason why the child died, and the place, since an assertion may have many callers.
static std::string reasonOf(const std::string &log, int status) {
  std::string frames, place;
  for (StringRef line : llvm::split(StringRef(log), '\n'))
    if (line.ltrim().starts_with("#") && (line.contains(".cpp:") || line.contains(".h:")) &&
        !line.contains("/usr/") && !line.contains("onLargeStack") && frames.size() < 1500) {
      frames += "\n" + line.trim().str();
      if (place.empty())
        place = " at " + line.trim().rsplit('/').second.rsplit(':').first.str();
    }
  for (StringRef line : llvm::split(StringRef(log), '\n'))
    for (StringRef word : {"Assertion", "LLVM ERROR", "UNREACHABLE", "AddressSanitizer", "what():"})
      if (size_t at = line.find(word); at != StringRef::npos) {
        size_t slash = line.take_front(at).rfind('/');
        StringRef said = line.drop_front(slash == StringRef::npos ? 0 : slash + 1);
        return said.take_front(50).str() + place + "\n" + said.str() + frames;
      }
  return "signal " + std::to_string(WTERMSIG(status)) + " in " +
         StringRef(shared->stage).take_front(30).str() + place + "\n" + shared->stage + frames;
}

static void parent(const Settings &settings, const std::vector<std::string> &corpus) {
  double end = now() + settings.seconds;
  uint64_t seed = settings.seed;
  std::string log = settings.failures + "/log";
  while (now() < end && shared->mutants < settings.mutants &&
         (!settings.asTheyAre || seed - settings.seed < corpus.size())) {
    enter("start");
    shared->spent = 0;
    pid_t child = fork();
    if (child == 0) {
      if (!freopen(log.c_str(), "w+", stderr) || !freopen("/dev/null", "w", stdout))
        _exit(1);
      onLargeStack([&] { work(settings, corpus, seed); });
      _exit(0);
    }
    ++seed;
    int status = 0;
    clockid_t clock = CLOCK_MONOTONIC;
    clock_getcpuclockid(child, &clock);
    bool isLate = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
      usleep(20000);
      // CPU time, as the machine may be busy, and elapsed time, as a child may wait forever.
      double limit = StringRef(shared->stage) == loopStage ? loopLimit : settings.limit;
      isLate = secondsOn(clock) - shared->spent > limit || now() - shared->since > 20 * limit;
      if (isLate || now() > end + 5) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        break;
      }
    }
    if (isLate && StringRef(shared->stage) == loopStage)
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
  app.add_option("--limit", settings.limit, "The most seconds that one stage computes (60)");
  app.add_option("--mutants", settings.mutants, "Stop after so many");
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
            << shared->compiled << " compiled, " << shared->ran << " ran, " << shared->agreed
            << " agree, " << shared->refused << " were refused; " << shared->passes
            << " sequences of passes; " << shared->failures << " failures, in " << settings.failures
            << "\n";
  return shared->failures > 0;
}
