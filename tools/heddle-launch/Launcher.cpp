//===- Launcher.cpp - starts, watches and ends ranks ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/heddle-launch/Launcher.h"

#include "runtime/control/ControlServer.h"
#include "runtime/device/ThreadTeam.h"
#include "tools/heddle-launch/Output.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <list>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;
using Clock = ControlClock;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {
/// The time from SIGTERM to SIGKILL.
constexpr seconds termination{2};

class Launcher {
public:
  explicit Launcher(const LaunchOptions &options);
  ~Launcher() { killAll(SIGKILL); }
  int run();

private:
  struct Rank {
    pid_t pid = 0;
    bool running = false;
    int status = 0;                 ///< like a shell's: 128 + N for signal N
    const Output *errors = nullptr; ///< what it writes to stderr, if that is copied
  };

  const LaunchOptions &options;
  const pid_t self = getpid();
  JobKey key = JobKey::random();
  ControlServer server;
  std::vector<Rank> ranks;
  std::vector<std::vector<int>> cpus;
  std::list<Output> outputs;
  Socket signals;
  sigset_t formerSignals;
  int interrupted = 0; ///< the signal that ended the job
  /// The phases of ending the ranks, and the time of the next one.
  enum class Phase : uint8_t { Running, Reporting, Terminating, Killing } phase = Phase::Running;
  Clock::time_point due = Clock::time_point::max();

  void start(int rank);
  [[noreturn]] void become(int rank, const int (&streams)[3], int report);
  void setVariables(int rank) const;
  void reap();
  void ended(int rank, const siginfo_t &how);
  void takeSignal();
  void advance();
  void enter(Phase next, seconds time);
  void killAll(int signal);
  bool isRunning() const {
    return std::any_of(ranks.begin(), ranks.end(), [](const Rank &rank) { return rank.running; });
  }
  int summarise();
};
} // namespace

namespace {
/// The program can't be run. The exit status is the one of a shell: 127 if it does not exist, else
/// 126.
struct StartError : Error {
  int status;
  StartError(const std::string &program, int reason)
      : Error("can't run '" + program + "': " + std::strerror(reason)),
        status(reason == ENOENT || reason == ENOTDIR ? 127 : 126) {}
};
} // namespace

[[noreturn]] static void failFor(const std::string &what) {
  throw Error(what + ": " + std::strerror(errno));
}

/// Raises the limit of open files: each rank takes three descriptors, and the default of most
/// systems is enough for 300 ranks.
static void allowManyFiles() {
  rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

Launcher::Launcher(const LaunchOptions &options)
    : options(options), server({.ranks = options.ranks,
                                .key = key,
                                .timeout = seconds(options.timeout),
                                .lossGrace = seconds(1), // for `reap` to see its exit status
                                .byLauncher = true}),
      ranks(size_t(options.ranks)), cpus(size_t(options.ranks)) {
  if (options.ranks > 64)
    allowManyFiles();
  if (options.pin)
    cpus = shareCpus(options.ranks);
  sigset_t set;
  sigemptyset(&set);
  for (int each : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    sigaddset(&set, each);
  sigprocmask(SIG_BLOCK, &set, &formerSignals);
  signals = Socket(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals)
    failFor("can't wait for signals");
  std::signal(SIGPIPE, SIG_IGN);
}

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

static std::pair<Socket, Socket> makePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    failFor("can't make a pipe");
  return {Socket(ends[0]), Socket(ends[1])};
}

void Launcher::setVariables(int rank) const {
  auto set = [](const char *name, const std::string &value) { setenv(name, value.c_str(), 1); };
  set("HEDDLE_RANK", std::to_string(rank));
  set("HEDDLE_RANKS", std::to_string(options.ranks));
  set("HEDDLE_CONTROL", server.endpoint().str());
  set("HEDDLE_JOB_KEY", key.str());
  set("HEDDLE_TIMEOUT", std::to_string(options.timeout));
  set("HEDDLE_LAUNCHER", std::to_string(self));
  if (!options.engine.empty())
    set("HEDDLE_ENGINE", options.engine);
  // Variables about threads that the user has set are kept.
  auto isSet = [](const char *name) { return getenv(name) && *getenv(name); };
  const std::vector<int> &mine = cpus[size_t(rank)];
  if (!isSet("HEDDLE_THREADS") && !isSet("OMP_NUM_THREADS"))
    set("HEDDLE_THREADS",
        std::to_string(mine.empty() ? std::max(1, availableCores() / options.ranks)
                                    : int(mine.size())));
  if (!mine.empty() && !isSet("OMP_NUM_THREADS")) // other libraries
    set("OMP_NUM_THREADS", std::to_string(mine.size()));
}

/// In the child: executes the program, or writes the error to `report`.
void Launcher::become(int rank, const int (&streams)[3], int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != self) // the launcher has ended already
    _exit(1);
  setVariables(rank);
  if (const auto &mine = cpus[size_t(rank)]; !mine.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu : mine)
      CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
  }
  for (int stream = 0; stream < 3; ++stream)
    if (streams[stream] != stream)
      dup2(streams[stream], stream);
  std::signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &formerSignals, nullptr);
  std::vector<char *> arguments;
  for (const std::string &word : options.command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  int reason = errno;
  (void)!write(report, &reason, sizeof reason);
  _exit(127);
}

void Launcher::start(int rank) {
  int streams[3] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  Socket nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  // A process group in the background can't read from the terminal.
  if (nothing && (rank > 0 || isatty(STDIN_FILENO)))
    streams[0] = nothing.get();
  std::vector<Socket> theirs;
  const Output *errors = nullptr;
  for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    // Rank 0 may write to a terminal directly, for example to show its progress.
    if (!options.prefix || (rank == 0 && isatty(stream)))
      continue;
    auto [from, to] = makePipe();
    fcntl(from.get(), F_SETFL, O_NONBLOCK);
    streams[stream] = to.get();
    theirs.push_back(std::move(to));
    outputs.emplace_back(std::move(from), stream, "[" + std::to_string(rank) + "] ");
    if (stream == STDERR_FILENO)
      errors = &outputs.back();
  }
  auto [report, toReport] = makePipe();
  std::cout.flush();
  pid_t child = fork();
  if (child < 0)
    failFor("can't start rank " + std::to_string(rank));
  if (child == 0)
    become(rank, streams, toReport.get());
  setpgid(child, child); // here and in the child, so that neither needs to wait
  ranks[size_t(rank)] = {.pid = child, .running = true, .errors = errors};
  toReport = Socket();
  int reason = 0;
  ssize_t got;
  while ((got = read(report.get(), &reason, sizeof reason)) < 0 && errno == EINTR)
    ;
  if (got == sizeof reason)
    throw StartError(options.command[0], reason);
}

//===----------------------------------------------------------------------===//
// Watching
//===----------------------------------------------------------------------===//

int Launcher::run() {
  for (int r = 0; r < options.ranks; ++r)
    start(r);
  std::vector<pollfd> polled;
  while (isRunning()) {
    polled.assign(1, {signals.get(), POLLIN, 0});
    for (const Output &output : outputs)
      polled.push_back({output.descriptor(), POLLIN, 0});
    server.addTo(polled);
    auto left = std::chrono::ceil<milliseconds>(due - Clock::now());
    poll(polled.data(), nfds_t(polled.size()),
         int(std::clamp<int64_t>(left.count(), 0, server.period())));
    size_t at = 1;
    for (Output &output : outputs) // those that have ended have the number -1, which poll() ignores
      if (polled[at++].revents)
        output.copy();
    server.serve(polled);
    if (polled[0].revents)
      takeSignal();
    advance();
  }
  for (Output &output : outputs)
    output.finish();
  return summarise();
}

/// Handles ranks that have ended.
void Launcher::reap() {
  server.serveArrived(); // what they sent before they ended
  for (int r = 0; r < options.ranks; ++r) {
    Rank &rank = ranks[size_t(r)];
    siginfo_t how{};
    if (!rank.running || waitid(P_PID, id_t(rank.pid), &how, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        how.si_pid == 0)
      continue;
    kill(-rank.pid, SIGKILL); // its process group; the number can't be reused until it is reaped
    waitpid(rank.pid, nullptr, 0);
    rank.running = false;
    ended(r, how);
  }
}

void Launcher::ended(int rank, const siginfo_t &how) {
  std::string text;
  if (how.si_code == CLD_EXITED) {
    ranks[size_t(rank)].status = how.si_status;
    text = "ended with exit status " + std::to_string(how.si_status);
  } else {
    ranks[size_t(rank)].status = 128 + how.si_status;
    text = "was ended by signal " + std::to_string(how.si_status) + " (" +
           strsignal(how.si_status) + ")";
  }
  if (ranks[size_t(rank)].status == 0 || interrupted)
    return;
  server.fail({Failure::Kind::Lost, {rank}, text});
  if (phase == Phase::Running) // also if it has reported a failure before
    enter(Phase::Reporting, seconds(options.grace));
}

void Launcher::takeSignal() {
  signalfd_siginfo got;
  bool children = false;
  while (read(signals.get(), &got, sizeof got) == sizeof got) {
    int signal = int(got.ssi_signo);
    if (signal == SIGCHLD) {
      children = true;
      continue;
    }
    if (interrupted) // the second signal
      enter(Phase::Killing, seconds(0));
    else
      enter(Phase::Terminating, std::max(seconds(options.grace), termination));
    interrupted = signal;
    killAll(phase == Phase::Killing ? SIGKILL : signal);
  }
  if (children)
    reap();
}

void Launcher::enter(Phase next, seconds time) {
  phase = next;
  due = Clock::now() + time;
}

/// Ends ranks that outlive a failure of the job.
void Launcher::advance() {
  // A rank that has ended, with any exit status, can't join any more.
  for (int r = 0; r < options.ranks && !interrupted; ++r)
    if (!ranks[size_t(r)].running && server.isAwaited(r))
      server.fail({Failure::Kind::Lost,
                   {r},
                   "ended with exit status " + std::to_string(ranks[size_t(r)].status) +
                       " before it joined the job"});
  // A rank that reported a failure, or differs, is alive, and could continue without the others.
  if (const auto &failure = server.failure(); phase == Phase::Running && failure &&
                                              failure->kind != Failure::Kind::Reported &&
                                              failure->kind != Failure::Kind::Disagreed)
    enter(Phase::Reporting, seconds(options.grace));
  if (Clock::now() < due)
    return;
  if (phase == Phase::Reporting) {
    killAll(SIGTERM);
    killAll(SIGCONT); // a stopped process ends as well
    enter(Phase::Terminating, termination);
  } else {
    killAll(SIGKILL);
    enter(Phase::Killing, seconds(1));
  }
}

void Launcher::killAll(int signal) {
  for (const Rank &rank : ranks)
    if (rank.running)
      kill(-rank.pid, signal);
}

/// Prints how the job failed, and returns its exit status.
int Launcher::summarise() {
  if (interrupted) {
    std::cerr << "heddle-launch: ended by signal " << interrupted << " (" << strsignal(interrupted)
              << ")\n";
    return 128 + interrupted;
  }
  const auto &failure = server.failure();
  auto failed = std::find_if(ranks.begin(), ranks.end(), [](auto &rank) { return rank.status; });
  if (!failure || (failed == ranks.end() && failure->kind == Failure::Kind::Reported))
    return 0;
  std::cerr << "heddle-launch: " << failure->describe();
  // A rank that reported a failure has sent the reason. A rank that just ended may have written it.
  if (int rank = failure->member.rank; failure->kind == Failure::Kind::Lost && rank >= 0)
    if (const Output *errors = ranks[size_t(rank)].errors; errors && !errors->lastLine().empty())
      std::cerr << "; its last output: " << errors->lastLine();
  std::cerr << "\n";
  if (int rank = failure->member.rank; rank >= 0 && ranks[size_t(rank)].status)
    return ranks[size_t(rank)].status;
  return failed == ranks.end() ? 1 : failed->status;
}

int heddle::launch(const LaunchOptions &options) {
  try {
    return Launcher(options).run();
  } catch (const StartError &error) {
    std::cerr << "heddle-launch: " << error.what() << "\n";
    return error.status;
  }
}
