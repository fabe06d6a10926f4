// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sidestep::app {

/// The program `sidestep`: reads the command line, does what it says, gives the exit status.
///
/// Thread: the main thread; registers itself as a reader where a command looks things up
int run(int argc, const char* const* argv);

}  // namespace sidestep::app
