// SPDX-License-Identifier: Apache-2.0
#include "bench/program.hpp"

int main(int argc, char** argv) { return sidestep::bench::run(argc, argv); }
