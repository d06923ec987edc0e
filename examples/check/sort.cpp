/* SPDX-License-Identifier: MIT */
/* Benchmarks that list their names: sort_cpp --list, sort_cpp NAME. */
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

static const std::map<std::string, void (*)(std::vector<uint32_t> &)>
    benchmarks = {
        {"sort", [](auto &n) { std::sort(n.begin(), n.end()); }},
        {"stable", [](auto &n) { std::stable_sort(n.begin(), n.end()); }},
        {"multiset",
         [](auto &n) {
             const std::multiset<uint32_t> sorted(n.begin(), n.end());
             std::copy(sorted.begin(), sorted.end(), n.begin());
         }},
};

int
main(int argc, char **argv)
{
    const std::string word = argc == 2 ? argv[1] : "";
    std::vector<uint32_t> numbers(20000);
    uint32_t state = 1;

    if (word == "--list") {
        for (const auto &[name, run] : benchmarks)
            std::cout << name << '\n';
        return 0;
    }
    const auto found = benchmarks.find(word);
    if (found == benchmarks.end())
        return 2;
    /* The same numbers each time. */
    for (auto &n : numbers) {
        state = state * 1664525u + 1013904223u;
        n = state >> 8;
    }
    found->second(numbers);
    std::cout << numbers[numbers.size() / 2] << '\n';
}
