// By itself, so that tests can have the rest as a library.

#include "app/program.h"

int main(int argc, char** argv) { return heddle::app::run_program(argc, argv); }
