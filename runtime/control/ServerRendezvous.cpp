//===- ServerRendezvous.cpp - how ranks find their server -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/ServerRendezvous.h"

#include "heddle/Error.h"

#include <climits>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;

std::string heddle::hostName() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

ServerRendezvous::ServerRendezvous(const RankInfo &info)
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

ServerRendezvous::Address ServerRendezvous::forServer() const {
  Address address = known;
  if (severalHosts) // a host's own name may resolve to its loopback address
    address.endpoint.host = "0.0.0.0";
  return address;
}

void ServerRendezvous::publish(const Address &address) {
  known = address;
  if (severalHosts)
    known.endpoint.host = hostName();
  if (path.empty())
    return;
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos || slash == 0 ? "" : path.substr(0, slash);
  for (int tries = 1;; ++tries) {
    if (!folder.empty())
      mkdir(folder.c_str(), 0700); // if it fails, opening the file below fails too
    try {
      meeting.publish(path, known.endpoint.str() + " " + known.key.str() + "\n");
      break;
    } catch (const Error &) { // another job may have just removed the folder
      if (tries == 10 || folder != meetingFolder() || access(folder.c_str(), F_OK) == 0)
        throw;
    }
  }
}

void ServerRendezvous::withdraw() {
  if (!meeting.hasPublished())
    return;
  meeting.withdraw();
  if (std::string folder = meetingFolder(); path.starts_with(folder + "/"))
    rmdir(folder.c_str()); // fails if other jobs have files there
}

std::optional<ServerRendezvous::Address> ServerRendezvous::find() const {
  if (path.empty() || meeting.hasPublished())
    return known;
  auto found = Rendezvous::find(path);
  if (!found)
    return std::nullopt;
  const std::string &contents = *found;
  size_t space = contents.find(' '), end = contents.find('\n');
  if (space == std::string::npos || end == std::string::npos || end < space)
    throw Error("expected the address of a control server in '" + path + "'");
  return Address{Endpoint::parse(contents.substr(0, space)),
                 JobKey::parse(contents.substr(space + 1, end - space - 1))};
}
