// SPDX-License-Identifier: Apache-2.0
#include "app/program.hpp"

int main(int argc, char** argv) { return sidestep::app::run(argc, argv); }
