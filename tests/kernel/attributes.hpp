// SPDX-License-Identifier: Apache-2.0
// Walking netlink attributes; the library's own macros are C only.
#pragma once

#include <libmnl/libmnl.h>

#include <cstddef>

namespace sidestep::kernel {

/// Calls `each(const nlattr*)` for every attribute in `size` bytes.
template <typename Each>
void for_each_attribute(const void* begin, std::size_t size, Each each) {
  const char* at = static_cast<const char*>(begin);
  while (size >= sizeof(nlattr)) {
    const auto* attribute = reinterpret_cast<const nlattr*>(at);
    if (attribute->nla_len < sizeof(nlattr) || attribute->nla_len > size) return;
    each(attribute);
    const std::size_t step = (attribute->nla_len + 3U) & ~std::size_t{3};
    if (step >= size) return;
    at += step;
    size -= step;
  }
}

/// The attributes of a message behind its fixed header of `header_size` bytes.
template <typename Each>
void for_each_attribute(const nlmsghdr* message, std::size_t header_size, Each each) {
  const std::size_t begin = sizeof(nlmsghdr) + ((header_size + 3U) & ~std::size_t{3});
  if (message->nlmsg_len <= begin) return;
  for_each_attribute(static_cast<const void*>(reinterpret_cast<const char*>(message) + begin),
                     message->nlmsg_len - begin, each);
}

/// The attributes inside an attribute.
template <typename Each>
void for_each_nested(const nlattr* attribute, Each each) {
  for_each_attribute(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute), each);
}

}  // namespace sidestep::kernel
