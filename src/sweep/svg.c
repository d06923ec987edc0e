/* SPDX-License-Identifier: MIT */
#include "sweep/svg.h"

#include <math.h>
#include <stddef.h>

#include "base/escape.h"

const char *const svg_colours[SVG_COLOURS] = {"#0072b2", "#d55e00", "#009e73",
                                              "#cc79a7", "#56b4e9", "#e69f00",
                                              "#444444"};

void
svg_text(const char *text, FILE *out)
{
    escape_markup(text, ESCAPE_CELL, out);
}

void
svg_begin(double width, double height, const char *text, FILE *out)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" "
            "height=\"%g\" viewBox=\"0 0 %g %g\">\n"
            "<style>text{font:12px sans-serif;fill:#222}"
            ".title{font-weight:bold;font-size:14px}"
            ".end{text-anchor:end}.middle{text-anchor:middle}"
            ".grid{stroke:#ccc;fill:none}"
            ".line{fill:none;stroke-width:2}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"%g\" y=\"18\">",
            width, height, width, height, SVG_LEFT);
    svg_text(text, out);
    fputs("</text>\n", out);
}

void
svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

double
svg_step(double count)
{
    static const double steps[] = {1, 2, 2.5, 5};
    const double rough = count / SVG_TICKS;
    const double power = pow(10, floor(log10(rough > 0 ? rough : 1)));

    for (size_t i = 0; i < 4; i++)
        if (steps[i] * power >= rough)
            return steps[i] * power;
    return 10 * power;
}

void
svg_number(double n, FILE *out)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P"};
    size_t unit = 0;

    while (n >= 1000 && unit < 5) {
        n /= 1000;
        unit++;
    }
    fprintf(out, "%g%s", n, units[unit]);
}
