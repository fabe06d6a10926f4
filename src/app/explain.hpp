// SPDX-License-Identifier: Apache-2.0
// The walk of a lookup, for people and for programs.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <sidestep/lookup/explain.hpp>
#include <sidestep/lookup/fib.hpp>

namespace sidestep::app {

/// Fills in what each rule of the walk says, which the lookup itself has no words for.
/// Thread: as Fib::rules()
void name_rules(lookup::Explanation& explanation, const lookup::Fib& fib);

/// The walk as indented text, one line for each rule, table and prefix; each line ends with a newline.
/// @param indent  spaces before the outermost lines
[[nodiscard]] std::string explanation_text(const lookup::Explanation& explanation,
                                           std::size_t indent);
[[nodiscard]] nlohmann::ordered_json explanation_json(const lookup::Explanation& explanation);

}  // namespace sidestep::app
