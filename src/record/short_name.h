/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust as short as a table has room for. */
#ifndef TALLY_RECORD_SHORT_NAME_H
#define TALLY_RECORD_SHORT_NAME_H

/* Returns a text in which names of functions have neither the arguments of
 * their templates, for which "<...>" stands, nor the types of their arguments:
 * "std::vector<int, std::allocator<int> >::push_back(int const&)" is
 * "std::vector<...>::push_back". What stands in parentheses or angle brackets
 * of their own, as "main (main.c:3)" or "<T as Trait>::f", stays. For the
 * caller to free; NULL: no memory. */
char *short_name(const char *text);

#endif
