/* SPDX-License-Identifier: MIT */
#include "check/toml.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <toml++/toml.h>

namespace {

/* What is wrong with a value, and where. */
struct bad_value {
    const char *what;
    toml::source_position at;
};

/* The parts that a key may have; "a.b.c" has three. toml++ bounds how deep
 * values nest, but not how deep keys nest tables, and frees those tables by
 * recursion: a key of 100,000 parts overflowed the stack. */
constexpr unsigned most_parts = 8;

/* Returns the place behind the string that begins at `at`, or the end of the
 * text. */
size_t
skip_string(std::string_view text, size_t at)
{
    const char quote = text[at];
    const std::string three(3, quote);
    const bool many = text.compare(at, 3, three) == 0;

    for (at += many ? 3 : 1; at < text.size(); at++) {
        if (quote == '"' && text[at] == '\\') {
            at++;
        } else if (many && text.compare(at, 3, three) == 0) {
            /* Up to two quotes in front of the closing ones are text. */
            at += 3;
            for (int more = 0; more < 2 && at < text.size(); more++)
                at += text[at] == quote ? 1 : 0;
            return at;
        } else if (!many && (text[at] == quote || text[at] == '\n')) {
            return at + 1;
        }
    }
    return text.size();
}

/* Throws bad_value at the first key of too many parts. Outside strings and
 * comments a point stands in keys, numbers and times alone; numbers and times
 * have one at most, so they pass as keys of two parts. */
void
check_keys(std::string_view text)
{
    toml::source_position at{1, 1};
    size_t line = 0; /* where the line of `at` begins */
    unsigned parts = 1;

    for (size_t i = 0; i < text.size();) {
        const size_t first = i;
        const char c = text[first];
        if (c == '"' || c == '\'')
            i = std::min(skip_string(text, first), text.size());
        else if (c == '#')
            i = std::min(text.find('\n', first), text.size());
        else
            i++;
        if (c == '.' && ++parts > most_parts) {
            at.column = static_cast<toml::source_index>(i - line);
            throw bad_value{"a key has at most 8 parts; a.b.c has three", at};
        }
        if (std::strchr("\n=,[]{}#", c) != nullptr)
            parts = 1;
        for (size_t k = first; k < i; k++) {
            if (text[k] == '\n') {
                at.line++;
                line = k + 1;
            }
        }
    }
}

json_t *make(const toml::node &node);

/* Takes the value over for a member or an element that `add` sets. */
template <typename Add>
void
add_to(json_t *whole, const toml::node &node, Add add)
{
    json_t *value = nullptr;

    try {
        value = make(node);
    } catch (...) {
        json_decref(whole);
        throw;
    }
    if (add(value) != 0) {
        json_decref(whole);
        throw std::bad_alloc();
    }
}

json_t *
allocated(json_t *value)
{
    if (value == nullptr)
        throw std::bad_alloc();
    return value;
}

json_t *
make_table(const toml::table &table)
{
    json_t *const object = allocated(json_object());

    for (const auto &[key, value] : table) {
        const std::string name(key.str());
        if (name.find('\0') != std::string::npos) {
            json_decref(object);
            throw bad_value{"a name has no 0 byte", value.source().begin};
        }
        add_to(object, value, [&](json_t *json) {
            return json_object_set_new(object, name.c_str(), json);
        });
    }
    return object;
}

json_t *
make_array(const toml::array &array)
{
    json_t *const list = allocated(json_array());

    for (const auto &value : array)
        add_to(list, value,
               [&](json_t *json) { return json_array_append_new(list, json); });
    return list;
}

json_t *
make(const toml::node &node)
{
    const auto at = node.source().begin;

    if (const auto *const table = node.as_table())
        return make_table(*table);
    if (const auto *const array = node.as_array())
        return make_array(*array);
    if (const auto *const text = node.as_string()) {
        if (text->get().find('\0') != std::string::npos)
            throw bad_value{"text has no 0 byte", at};
        return allocated(json_stringn(text->get().data(), text->get().size()));
    }
    if (const auto *const number = node.as_integer())
        return allocated(json_integer(number->get()));
    if (const auto *const real = node.as_floating_point()) {
        /* Jansson has no infinity and no NaN. */
        if (json_t *const json = json_real(real->get()))
            return json;
        throw bad_value{"a number is finite", at};
    }
    if (const auto *const truth = node.as_boolean())
        return allocated(json_boolean(truth->get()));
    throw bad_value{"dates and times have no meaning here", at};
}

void
say(char *error, size_t room, const toml::source_position &at,
    std::string_view what)
{
    std::snprintf(error, room, "line %u, column %u: %.*s",
                  static_cast<unsigned>(at.line),
                  static_cast<unsigned>(at.column),
                  static_cast<int>(what.size()), what.data());
    /* One line, whatever the library says. */
    for (char *c = error; *c != '\0'; c++) {
        if (static_cast<unsigned char>(*c) < ' ' || *c == 0x7f)
            *c = ' ';
    }
}

} // namespace

json_t *
toml_read(const char *text, size_t size, char *error, size_t room)
{
    const std::string_view whole(text, size);

    try {
        check_keys(whole);
        return make_table(toml::parse(whole));
    } catch (const toml::parse_error &e) {
        say(error, room, e.source().begin, e.description());
    } catch (const bad_value &e) {
        say(error, room, e.at, e.what);
    } catch (const std::exception &) {
        std::snprintf(error, room, "out of memory");
    }
    return nullptr;
}
