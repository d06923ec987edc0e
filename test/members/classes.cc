/* SPDX-License-Identifier: MIT */
/* A list of 4,096 objects of a class with a base, made by `new`. */
#include <cstdio>

namespace shapes
{

class Base
{
  public:
    virtual ~Base() = default;
    long kind = 1;
};

class alignas(64) Shape : public Base
{
  public:
    explicit Shape(Shape *behind) : next(behind)
    {
    }
    long area() const;
    Shape *next; /* LINE next */
    long sides[5] = {};
};

__attribute__((noinline)) long
Shape::area() const
{
    return kind; /* LINE kind */
}

} // namespace shapes

int
main()
{
    shapes::Shape *first = nullptr;
    long sum = 0;

    for (int i = 0; i < 4096; i++)
        first = new shapes::Shape(first);
    for (const shapes::Shape *s = first; s != nullptr; s = s->next)
        sum += s->area();
    std::printf("%ld\n", sum);
    return 0;
}
