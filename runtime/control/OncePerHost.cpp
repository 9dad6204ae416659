//===- OncePerHost.cpp - shares the result of one rank per host -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/OncePerHost.h"

#include "runtime/control/ServerRendezvous.h"

#include <algorithm>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

using namespace heddle;

/// A running rank may take this long; a rank that dies is noticed immediately.
static constexpr std::chrono::hours longest{1};

namespace {
/// An anonymous file, which processes of this host and user can open.
class SharedFile {
public:
  explicit SharedFile(std::string_view bytes) : descriptor(memfd_create("heddle", MFD_CLOEXEC)) {
    while (descriptor >= 0 && !bytes.empty()) {
      ssize_t written = write(descriptor, bytes.data(), bytes.size());
      if (written <= 0)
        return; // truncated: readers compare the size
      bytes.remove_prefix(size_t(written));
    }
  }
  ~SharedFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  SharedFile(const SharedFile &) = delete;
  SharedFile &operator=(const SharedFile &) = delete;
  std::string path() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor;
};

/// The message by which the rank that called `make` sends its result to the others.
struct Made {
  bool fine = true;
  std::string text; ///< the file's path, or the error
  uint64_t bytes = 0;

  std::string pack() const { return BodyWriter().number(fine).text(text).number(bytes).take(); }
  static Made parse(std::string_view said) {
    BodyReader reader(said);
    Made made;
    made.fine = reader.smallNumber(1);
    made.text = reader.text();
    made.bytes = reader.number();
    return made;
  }
};
} // namespace

/// A string that is equal for processes that share a /proc.
static std::string thisHost() {
  std::error_code ignored;
  char link[64] = {};
  if (readlink("/proc/self/ns/pid", link, sizeof link - 1) < 0)
    link[0] = 0;
  return hostName() + " " + link;
}

static std::optional<std::string> contentsOf(const Made &made) {
  std::ifstream file(made.text, std::ios::binary);
  std::string bytes(made.bytes, '\0');
  if (!file.read(bytes.data(), std::streamsize(bytes.size())))
    return std::nullopt;
  return bytes;
}

std::string heddle::oncePerHost(Job &job, const std::string &what,
                                const std::function<std::string()> &make) {
  if (!job.channel())
    return make();
  std::vector<std::string> hosts = job.exchange(what, thisHost());
  auto makerFor = [&](const std::string &host) {
    return std::find(hosts.begin(), hosts.end(), host) - hosts.begin();
  };
  long maker = makerFor(hosts[size_t(job.rank())]);
  std::string bytes, said;
  std::exception_ptr error;
  std::optional<SharedFile> file;
  if (maker == job.rank()) {
    Made made;
    try {
      bytes = make();
      file.emplace(bytes);
      made = {true, file->path(), bytes.size()};
    } catch (const std::exception &thrown) {
      error = std::current_exception();
      made = {false, thrown.what(), 0};
    }
    said = made.pack();
  }
  std::vector<std::string> all = job.exchange(what, said, longest);
  if (error)
    std::rethrow_exception(error);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    Made made = all[rank].empty() ? Made() : Made::parse(all[rank]);
    if (!made.fine)
      throw Error(job.channel()->members()[rank].describe() + " failed at " + what + ": " +
                  made.text);
  }
  if (maker != job.rank()) {
    auto found = contentsOf(Made::parse(all[size_t(maker)]));
    try {
      bytes = found ? *found : make();
    } catch (...) {
      error = std::current_exception();
    }
  }
  job.exchange(what, "", longest); // wait until all have read the files
  if (error)
    std::rethrow_exception(error);
  return bytes;
}
