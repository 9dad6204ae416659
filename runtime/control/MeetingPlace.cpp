//===- MeetingPlace.cpp - how ranks find their server ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/MeetingPlace.h"

#include "heddle/Error.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;

std::string heddle::hostName() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

MeetingPlace::MeetingPlace(const RankInfo &info)
    : text(info.control), known{{"127.0.0.1", 0}, info.key}, severalHosts(info.severalHosts()) {
  if (text.starts_with("file:")) {
    path = text.substr(5);
    if (path.empty())
      throw Error("expected a path after 'file:' in HEDDLE_CONTROL");
    known.key = JobKey::random();
  } else if (!text.empty()) {
    known.endpoint = Endpoint::parse(text);
  }
}

MeetingPlace::Address MeetingPlace::forServer() const {
  Address address = known;
  if (severalHosts) // a host's own name may lead to its loopback interface
    address.endpoint.host = "0.0.0.0";
  return address;
}

void MeetingPlace::publish(const Address &address) {
  known = address;
  if (severalHosts)
    known.endpoint.host = hostName();
  if (path.empty())
    return;
  if (size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0)
    mkdir(path.substr(0, slash).c_str(), 0700); // where it fails, so does what follows
  std::string made = path + "." + std::to_string(getpid());
  std::string line = known.endpoint.str() + " " + known.key.str() + "\n";
  Socket file(open(made.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || write(file.get(), line.data(), line.size()) != ssize_t(line.size()) ||
      rename(made.c_str(), path.c_str()) != 0) {
    int reason = errno;
    if (file)
      unlink(made.c_str());
    throw Error("can't write the server's address into '" + path + "': " + std::strerror(reason));
  }
  published = true;
}

void MeetingPlace::withdraw() {
  if (published)
    unlink(path.c_str());
  published = false;
}

std::optional<MeetingPlace::Address> MeetingPlace::find() const {
  if (path.empty() || published)
    return known;
  Socket file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT)
    return std::nullopt;
  struct stat about{};
  char line[512];
  ssize_t got = file && fstat(file.get(), &about) == 0 ? read(file.get(), line, sizeof line) : -1;
  if (got < 0)
    throw Error("can't read the server's address in '" + path + "': " + std::strerror(errno));
  if (about.st_uid != getuid() || (about.st_mode & 077) != 0)
    throw Error("expected '" + path + "' to belong to this user, and to be closed to others");
  std::string contents(line, size_t(got));
  size_t space = contents.find(' '), end = contents.find('\n');
  if (space == std::string::npos || end == std::string::npos || end < space)
    throw Error("expected the address of a control server in '" + path + "'");
  return Address{Endpoint::parse(contents.substr(0, space)),
                 JobKey::parse(contents.substr(space + 1, end - space - 1))};
}
