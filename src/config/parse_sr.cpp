// SPDX-License-Identifier: Apache-2.0
// `sr tunsrc set ADDRESS` and `sr hmac set KEYID ALGORITHM [SECRET]`.
#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

bool take_set(Cursor& cursor) {
  // `s` is `show`, which ip compares first.
  const Word* word = cursor.peek();
  if (word == nullptr || word->text == "s" || !abbreviates(word->text, "set"))
    return cursor.fail_next("'set'");
  cursor.take();
  return true;
}

bool parse_tunsrc(Cursor& cursor, Understood& out) {
  TunnelSourceChange change;
  if (!cursor.address(change.source, Family::kIpv6)) return false;
  out.points_at(cursor.last());
  out.actions.emplace_back(change);
  return true;
}

// ip asks for the secret on the terminal; ours is the next word. Without one the key is removed, as it is when nothing is
// typed there.
bool parse_hmac(Cursor& cursor, Understood& out) {
  HmacKeyChange change;
  if (!cursor.number("a key id", change.key.id, 1)) return false;
  out.points_at(cursor.last());
  if (cursor.take_if("sha1")) {
    change.key.algorithm = srv6::HmacAlgorithm::kSha1;
  } else if (!cursor.take_if("sha256")) {
    return cursor.fail_next("'sha1' or 'sha256'");
  }
  if (!cursor.at_end()) {
    change.key.secret = cursor.take().text;
    if (change.key.secret.size() > srv6::HmacSecret::kSecretMax)
      return cursor.fail(fmt::format("a secret of at most {} bytes", srv6::HmacSecret::kSecretMax));
  }
  out.actions.emplace_back(std::move(change));
  return true;
}

}  // namespace

bool parse_sr(Cursor& cursor, Understood& out) {
  const Word* word = cursor.peek();
  if (word != nullptr && abbreviates(word->text, "hmac") && word->text != "h") {  // `h` is help
    cursor.take();
    return take_set(cursor) && parse_hmac(cursor, out);
  }
  if (word != nullptr && abbreviates(word->text, "tunsrc")) {
    cursor.take();
    return take_set(cursor) && parse_tunsrc(cursor, out);
  }
  return cursor.fail_next("'tunsrc set' or 'hmac set'");
}

}  // namespace sidestep::config
