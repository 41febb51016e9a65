/* Stands before the real zmq.h in the search path: whoever includes it here finds no libzmq. */
#error "libzmq was reached from a build that must do without it"
