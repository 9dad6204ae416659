//===- Mpi.cpp - the engine mpi -------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages by MPI_Isend and MPI_Irecv. A message begins with a packet that holds its signature and,
// if they are short, the data. Longer data is sent from and received into the caller's memory
// without copies. Reductions receive it in pieces, several of which are in flight.
//
// Requests are polled with MPI_Test instead of blocking within MPI, so that ranks that are late or
// gone are detected. A lock of the process serialises all calls (MPI_THREAD_SERIALIZED).
//
// MPI is finalised when the process exits (or where the program finalises it). That may be before
// contexts are destroyed, since static objects may own some. So finalising MPI makes all contexts
// leave, and nothing calls MPI after it.
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/Transport.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mpi.h>
#include <mutex>
#include <set>
#include <sys/prctl.h>
#include <thread>

using namespace heddle;
using namespace heddle::collectives;

const char heddle::collectives::engineName[] = "mpi";

static std::recursive_mutex &lockOfMpi() {
  static auto &mutex = *new std::recursive_mutex;
  return mutex;
}
using Lock = std::lock_guard<std::recursive_mutex>;

static bool hasEnded() {
  int done = 0;
  MPI_Finalized(&done);
  return done;
}

/// Holds the lock for a call that needs MPI.
struct LockOfUse : Lock {
  LockOfUse() : Lock(lockOfMpi()) {
    if (hasEnded())
      throw Failure(HEDDLE_FAILED,
                    "MPI has ended in this process, which may no longer communicate");
  }
};

static void check(int status, const char *what) {
  if (status == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Failure(HEDDLE_FAILED, what, ": ", std::string_view(text, size_t(length)));
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

namespace {
constexpr int64_t packetData = 4096, window = 4, largest = int64_t(1) << 30;

/// One direction of the traffic between this rank and another.
struct Line {
  struct Request {
    MPI_Request handle = MPI_REQUEST_NULL;
    int64_t bytes;
    char *buffer;
  };
  std::deque<Request> requests = {}; ///< in the order of the data
  bool packetPosted = false;
  bool inPacket = false; ///< the data came with the signature
  int64_t posted = 0;    ///< bytes with a request
  std::vector<char> packet = std::vector<char>(sizeof(Signature) + packetData);
  std::vector<std::vector<char>> buffers = {}; ///< for pieces, in turn
  size_t next = 0;
};

class MpiChannel : public Channel {
public:
  MpiChannel(MPI_Comm communicator, const std::vector<int32_t> &ranks, int tag)
      : communicator(communicator), ranks(ranks), tag(tag), out(ranks.size()), in(ranks.size()) {}

  ~MpiChannel() override {
    Lock lock(lockOfMpi());
    if (hasEnded())
      return;
    static auto &used = *new std::deque<Line>; // MPI may access their memory until it ends
    for (auto *lines : {&out, &in})
      for (Line &line : *lines) {
        for (Line::Request &request : line.requests) { // only after a failure
          if (lines == &in)
            MPI_Cancel(&request.handle);
          MPI_Request_free(&request.handle);
        }
        if (!line.requests.empty())
          used.push_back(std::move(line));
      }
  }

  void send(Message &message) override {
    LockOfUse lock;
    Line &line = out[size_t(message.member)];
    if (message.isSigned && !line.packetPosted) {
      int64_t bytes = message.bytes <= packetData ? message.bytes : 0;
      std::memcpy(line.packet.data(), &message.signature, sizeof(Signature));
      std::copy_n(message.data, bytes, line.packet.data() + sizeof(Signature)); // data may be null
      postPacket(message, line, int64_t(sizeof(Signature)) + bytes, bytes);
    }
    while (line.posted < message.bytes && int64_t(line.requests.size()) <= window)
      post(message, line, message.data + line.posted);
    complete(message, line);
  }

  void receive(Message &message) override {
    LockOfUse lock;
    Line &line = in[size_t(message.member)];
    if (!listen(message, line))
      return;
    if (line.inPacket && message.bytes > 0) {
      std::memcpy(message.data, line.packet.data() + sizeof(Signature), size_t(message.bytes));
      message.done = message.bytes;
    }
    while (!line.inPacket && line.posted < message.bytes && int64_t(line.requests.size()) < window)
      post(message, line, message.data + line.posted);
    complete(message, line);
  }

  const char *peek(Message &message, int64_t) override {
    LockOfUse lock;
    Line &line = in[size_t(message.member)];
    if (!listen(message, line))
      return nullptr;
    if (line.inPacket)
      return line.packet.data() + sizeof(Signature) + message.done;
    line.buffers.resize(window);
    while (line.posted < message.bytes && int64_t(line.requests.size()) < window) {
      auto &buffer = line.buffers[line.next++ % window];
      buffer.resize(size_t(message.pieceBytes));
      post(message, line, buffer.data());
    }
    Line::Request &first = line.requests.front();
    return isComplete(first) ? first.buffer : nullptr;
  }

  void drop(Message &message, int64_t bytes) override {
    Line &line = in[size_t(message.member)];
    message.done += bytes;
    if (!line.inPacket)
      line.requests.pop_front();
    finish(message, line);
  }

private:
  MPI_Comm communicator;
  const std::vector<int32_t> ranks;
  const int tag;
  std::vector<Line> out, in; ///< by member

  int64_t pieceOf(const Message &message, int64_t at) const {
    return std::min(message.pieceBytes ? message.pieceBytes : largest, message.bytes - at);
  }

  static bool isComplete(Line::Request &request) {
    int done = 1; // MPI_REQUEST_NULL counts as complete
    check(MPI_Test(&request.handle, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done;
  }

  /// Posts the send or receive of `bytes`, of which `counts` belong to the message.
  void post(Message &message, Line &line, char *data, int64_t bytes, int64_t counts) {
    bool sends = &line == &out[size_t(message.member)];
    MPI_Request &request = line.requests.emplace_back(MPI_REQUEST_NULL, counts, data).handle;
    int32_t other = ranks[size_t(message.member)];
    check(sends ? MPI_Isend(data, int(bytes), MPI_BYTE, other, tag, communicator, &request)
                : MPI_Irecv(data, int(bytes), MPI_BYTE, other, tag, communicator, &request),
          sends ? "MPI_Isend" : "MPI_Irecv");
    line.posted += counts;
  }
  void post(Message &message, Line &line, char *data) {
    int64_t bytes = pieceOf(message, line.posted);
    post(message, line, data, bytes, bytes);
  }
  void postPacket(Message &message, Line &line, int64_t bytes, int64_t counts) {
    post(message, line, line.packet.data(), bytes, counts);
    line.packetPosted = true;
  }

  /// Advances over completed requests, in the order of the data.
  void complete(Message &message, Line &line) {
    while (!line.requests.empty() && isComplete(line.requests.front())) {
      message.begun = true; // for a received message it is set already
      message.done += line.requests.front().bytes;
      line.requests.pop_front();
    }
    finish(message, line);
  }

  /// True when the signature has arrived.
  bool listen(Message &message, Line &line) {
    if (message.begun)
      return true;
    if (!line.packetPosted)
      postPacket(message, line, int64_t(line.packet.size()), 0);
    MPI_Status status;
    int done = 0, bytes = 0;
    check(MPI_Test(&line.requests.front().handle, &done, &status), "MPI_Test");
    if (!done)
      return false;
    line.requests.pop_front();
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    Signature signature{};
    std::memcpy(&signature, line.packet.data(),
                std::min(sizeof signature, size_t(std::max(bytes, 0))));
    message.hear(signature);
    line.inPacket = message.bytes <= packetData;
    return true;
  }

  void finish(Message &message, Line &line) {
    if (!message.finished() || !line.requests.empty())
      return;
    line.packetPosted = line.inPacket = false;
    line.posted = 0;
  }
};

//===----------------------------------------------------------------------===//
// The transport
//===----------------------------------------------------------------------===//

/// The message by which a rank reports its failure to all others. The status HEDDLE_OK means that
/// the rank leaves.
struct Report {
  int32_t rank, status;
  char text[1000];
};

class MpiTransport;

/// This process's use of MPI. Finalises it at exit, unless the program initialised it.
struct Process {
  bool began = false;
  bool failed = false; ///< MPI_Finalize would wait for ranks that are gone
  /// The contexts that have not left. Never destroyed, since contexts may outlive this object.
  std::set<MpiTransport *> &contexts = *new std::set<MpiTransport *>;

  Process() {
    int done = 0, level = MPI_THREAD_SERIALIZED;
    MPI_Initialized(&done);
    if (done)
      MPI_Query_thread(&level);
    else
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    began = !done;
    if (level < MPI_THREAD_SERIALIZED)
      throw Failure(HEDDLE_FAILED, "MPI serves one thread only: expected MPI_THREAD_SERIALIZED");
  }
  ~Process();
  static Process &get() {
    static Process process;
    return process;
  }
};

class MpiTransport : public Transport {
public:
  explicit MpiTransport(World &world) {
    LockOfUse lock;
    auto &others = Process::get().contexts;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (world.size != 0 && (world.size != size || world.rank != rank))
      throw Failure(HEDDLE_INVALID, "expected rank ", world.rank, " of ", world.size,
                    ", but MPI started rank ", rank, " of ", size,
                    " (start the program by mpirun -n ", world.size, ")");
    world.rank = rank;
    world.size = size;
    crowded = size > int(std::thread::hardware_concurrency());
    open(world.timeout);
    int *most, found = 0;
    MPI_Comm_get_attr(communicator, MPI_TAG_UB, &most, &found);
    mostTag = found ? *most : 32767;
    left.resize(size_t(size));
    listenForReports();
    others.insert(this);
  }

  ~MpiTransport() override { leave(); }

  /// Tells the other ranks that this one has left. Later calls do nothing.
  void leave() {
    Lock lock(lockOfMpi());
    if (hasEnded() || Process::get().contexts.erase(this) == 0)
      return;
    if (!failed) // an earlier context of the process may have failed
      tell(HEDDLE_OK, "");
    MPI_Cancel(&listening);
    MPI_Request_free(&listening);
    // The communicator is not freed: that is a collective operation.
  }

  int64_t pieceBytes(int64_t message) const override {
    // Four pieces of 512 KiB fill the second-level cache, which large messages need.
    return (message >= 4 << 20 ? 128 : 512) << 10;
  }

  int64_t newGroup(int32_t) override { return int64_t(++groups) * size + rank; }

  std::unique_ptr<Channel> channel(int64_t group, const std::vector<int32_t> &ranks, int32_t,
                                   int kind) override {
    int64_t tag = 1 + 2 * group + kind; // 0 is for reports
    if (tag > mostTag)
      throw Failure(HEDDLE_FAILED, "MPI has no tags for more groups");
    return std::make_unique<MpiChannel>(communicator, ranks, int(tag));
  }

  void report(const Failure &failure) override {
    Lock lock(lockOfMpi());
    if (hasEnded())
      return;
    failed = Process::get().failed = true;
    tell(failure.status, failure.text);
  }

  std::optional<Failure> reported() override {
    if (++looks % 16 != 0)
      return std::nullopt;
    Lock lock(lockOfMpi());
    int done = 0;
    if (hasEnded())
      return std::nullopt;
    MPI_Test(&listening, &done, MPI_STATUS_IGNORE);
    if (!done)
      return std::nullopt;
    Report report = received;
    listenForReports();
    if (report.status == HEDDLE_OK) {
      left[size_t(report.rank)] = true;
      return std::nullopt;
    }
    failed = Process::get().failed = true;
    return Failure(report.status, "rank ", report.rank, " reports: ", report.text);
  }

  std::optional<std::string> gone(int32_t other) override {
    return left[size_t(other)] ? std::optional<std::string>("it left") : std::nullopt;
  }

  // MPI offers no blocking wait for news: a thread polls after 5 us, later every 200 us. It does
  // not yield: on a busy machine that costs milliseconds.
  uint32_t ticket() override { return 0; }
  void cancel() override { idle = 0; }
  void sleep(uint32_t, std::chrono::nanoseconds) override {
    prctl(PR_SET_TIMERSLACK, 1);
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(5u + idle++, 200u)));
    prctl(PR_SET_TIMERSLACK, 0); // the default
  }
  void wake() override {}

private:
  // Never destroyed: MPI may write to these two after this object is destroyed.
  MPI_Comm &communicator = *new MPI_Comm(MPI_COMM_NULL);
  Report &received = *new Report{};
  int64_t mostTag = 0, groups = 0;
  uint32_t looks = 0;
  bool failed = false; ///< this context
  std::atomic<uint32_t> idle{0};
  std::vector<bool> left; ///< by rank
  MPI_Request listening = MPI_REQUEST_NULL;

  /// Creates the communicator of this context.
  void open(double timeout) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Request request;
    check(MPI_Comm_idup(MPI_COMM_WORLD, &communicator, &request), "MPI_Comm_idup");
    auto end = Clock::now() + std::chrono::duration<double>(timeout);
    for (int done = 0; !done;) {
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (!done && Clock::now() > end)
        throw Failure(HEDDLE_TIMEOUT, "not all ranks joined within ", seconds(timeout), " s");
    }
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  }

  /// Sends a report to all others, for a short time at most.
  void tell(int32_t status, const std::string &text) {
    auto sent = std::make_unique<Report>(Report{.rank = rank, .status = status, .text = {}});
    std::strncpy(sent->text, text.c_str(), sizeof sent->text - 1);
    std::vector<MPI_Request> requests;
    for (int32_t other = 0; other < size; ++other)
      if (other != rank)
        MPI_Isend(sent.get(), sizeof *sent, MPI_BYTE, other, 0, communicator,
                  &requests.emplace_back());
    int done = 0;
    for (auto end = Clock::now() + std::chrono::milliseconds(200); !done && Clock::now() < end;)
      MPI_Testall(int(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (!done)
      (void)sent.release(); // leaked: MPI may still read it
    for (MPI_Request &request : requests)
      if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
  }

  void listenForReports() {
    MPI_Irecv(&received, sizeof received, MPI_BYTE, MPI_ANY_SOURCE, 0, communicator, &listening);
  }
};

Process::~Process() {
  Lock lock(lockOfMpi()); // the helper thread of a leaked context may be running
  if (!began || failed || hasEnded())
    return;
  while (!contexts.empty())
    (*contexts.begin())->leave();
  MPI_Finalize();
}
} // namespace

std::unique_ptr<Transport> heddle::collectives::openTransport(World &world) {
  world.refuseOtherOptions();
  return std::make_unique<MpiTransport>(world);
}
