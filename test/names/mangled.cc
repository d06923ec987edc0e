// SPDX-License-Identifier: MIT
// A C++ program with namespaces, templates, operators and a function that no
// other file sees, for test/names.c. The test knows these names.
#include <cstdio>

volatile unsigned sink;

namespace space {

struct pair {
    unsigned a, b;
};

__attribute__((noinline)) pair
operator+(const pair &x, const pair &y)
{
    sink = x.a;
    return {x.a + y.b, x.b + sink};
}

template <typename T>
__attribute__((noinline)) T
twice(T value)
{
    for (unsigned i = 0; i < 5; i++)
        sink += i;
    return static_cast<T>(value + value + sink);
}

class counter {
  public:
    __attribute__((always_inline)) inline unsigned
    next(unsigned by)
    {
        count += by * sink;
        return count;
    }
    __attribute__((noinline)) unsigned
    run(unsigned times)
    {
        for (unsigned i = 0; i < times; i++)
            sink += next(i);
        return count;
    }

  private:
    unsigned count = 0;
};

namespace {

__attribute__((noinline)) unsigned
hidden(unsigned x)
{
    sink += x;
    return sink * 3;
}

} // namespace

} // namespace space

int
main(int argc, char **)
{
    const unsigned x = static_cast<unsigned>(argc);
    space::counter counter;
    const space::pair sum = space::pair{x, 2} + space::pair{3, x};
    auto lambda = [&](unsigned y) __attribute__((noinline)) {
        return space::hidden(y) + sink;
    };

    std::printf("%u\n", space::twice(sum.a) + counter.run(x) + lambda(x));
    std::printf("%u\n", static_cast<unsigned>(space::twice(2.5 * x)));
    return 0;
}
