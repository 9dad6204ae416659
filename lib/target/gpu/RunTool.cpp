//===- RunTool.cpp - runs a program that makes code -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/RunTool.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <thread>

using namespace heddle;
using namespace heddle::gpu;

namespace {
/// A folder for the files of one run.
class Folder {
public:
  ~Folder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  llvm::Error create() {
    if (auto error = llvm::sys::fs::createUniqueDirectory("heddle", path))
      return llvm::createStringError(error, "a folder for temporary files can't be made");
    return llvm::Error::success();
  }
  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return full.str().str();
  }

private:
  llvm::SmallString<128> path;
};
} // namespace

static llvm::Error write(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  return error ? llvm::createStringError(error, "'" + path + "' can't be written")
               : llvm::Error::success();
}

/// Waits for a child, and kills it after `limit`. LLVM's own limit is an alarm, of which a process
/// with several threads has only one.
static llvm::sys::ProcessInfo await(const llvm::sys::ProcessInfo &child,
                                    std::chrono::milliseconds limit, std::string &message) {
  auto end = std::chrono::steady_clock::now() + limit;
  for (;;) { // if this process was stopped for long, the child may have ended meanwhile
    bool isLate = std::chrono::steady_clock::now() >= end;
    auto now = llvm::sys::Wait(child, /*SecondsToWait=*/0, &message);
    if (now.Pid != 0)
      return now;
    if (isLate)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ::kill(child.Pid, SIGKILL);
  auto killed = llvm::sys::Wait(child, std::nullopt);
  message = "it takes longer than " + std::to_string(limit.count()) + " ms";
  return killed;
}

/// Returns the first line of a tool's message: the error. A stack may follow.
static std::string firstLine(const std::string &path) {
  auto said = llvm::MemoryBuffer::getFile(path);
  return said ? (*said)->getBuffer().ltrim().split('\n').first.rtrim().str() : "";
}

/// Runs a program that reads nothing and says all into one file.
static llvm::Error run(llvm::ArrayRef<llvm::StringRef> words, const std::string &said,
                       std::chrono::milliseconds limit) {
  std::string program = words[0].str(), message;
  std::optional<llvm::StringRef> redirects[] = {"", llvm::StringRef(said), llvm::StringRef(said)};
  bool notStarted = false;
  auto child =
      llvm::sys::ExecuteNoWait(program, words, std::nullopt, redirects, 0, &message, &notStarted);
  if (notStarted)
    return llvm::createStringError("'" + program + "' can't be started: " + message);
  auto ended = await(child, limit, message);
  if (ended.ReturnCode != 0 || !message.empty()) {
    std::string reason =
        message.empty() ? "exit status " + std::to_string(ended.ReturnCode) : message;
    if (std::string line = firstLine(said); !line.empty())
      reason += ": " + line;
    return llvm::createStringError("'" + program + "' failed: " + reason);
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> gpu::runTool(llvm::StringRef program, llvm::StringRef input,
                                         llvm::ArrayRef<llvm::StringRef> arguments,
                                         std::chrono::milliseconds limit) {
  Folder folder;
  if (llvm::Error error = folder.create())
    return error;
  std::string from = folder.file("input"), to = folder.file("output");
  if (llvm::Error error = write(from, input))
    return error;
  llvm::SmallVector<llvm::StringRef> words{program};
  llvm::append_range(words, arguments);
  llvm::append_range(words, std::initializer_list<llvm::StringRef>{from, "-o", to});
  if (llvm::Error error = run(words, folder.file("said"), limit))
    return error;
  auto output = llvm::MemoryBuffer::getFile(to);
  if (!output)
    return llvm::createStringError(output.getError(), "'" + program + "' wrote no output");
  return (*output)->getBuffer().str();
}

llvm::Expected<std::string> gpu::askTool(llvm::StringRef program, llvm::StringRef argument) {
  Folder folder;
  if (llvm::Error error = folder.create())
    return error;
  std::string said = folder.file("said");
  if (llvm::Error error = run({program, argument}, said, std::chrono::minutes(1)))
    return error;
  auto output = llvm::MemoryBuffer::getFile(said);
  return output ? (*output)->getBuffer().str() : "";
}
