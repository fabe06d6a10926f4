// SPDX-License-Identifier: Apache-2.0
// Preloaded into `ip` by the tests: refuses NETLINK_EXT_ACK, so that `ip` prints the errno of a failed request ("RTNETLINK
// answers: File exists") rather than the kernel's words, which do not tell the errno.

#include <dlfcn.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>

extern "C" int setsockopt(int socket, int level, int option, const void* value,
                          socklen_t size) noexcept {
  if (level == SOL_NETLINK && option == NETLINK_EXT_ACK) {
    errno = ENOPROTOOPT;
    return -1;
  }
  using SetSockOpt = int (*)(int, int, int, const void*, socklen_t);
  static const auto real = reinterpret_cast<SetSockOpt>(dlsym(RTLD_NEXT, "setsockopt"));
  return real(socket, level, option, value, size);
}
