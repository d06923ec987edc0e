/* SPDX-License-Identifier: MIT */
#include "profile/code_versions.h"

#include <stdbool.h>
#include <stdlib.h>

#define PAGE 4096u

struct code_page {
    uint8_t code[PAGE];
    uint32_t version[PAGE]; /* 0: no code was seen there */
};

void
code_versions_init(struct code_versions *v)
{
    *v = (struct code_versions){0};
    numbering_init(&v->numbers, 1);
}

void
code_versions_finish(struct code_versions *v)
{
    for (size_t i = 0; i < v->page_count; i++)
        free(v->pages[i]);
    free(v->pages);
    numbering_finish(&v->numbers);
    *v = (struct code_versions){0};
}

/* Returns the page of an address, or NULL: no memory. */
static struct code_page *
page_of(struct code_versions *v, uint64_t address)
{
    const uint64_t key = address / PAGE;
    const uint32_t number = numbering_add(&v->numbers, &key);

    if (number == NUMBERING_NONE)
        return NULL;
    while (number >= v->page_count) {
        struct code_page **pages =
            reallocarray(v->pages, v->page_count + 1, sizeof(*pages));
        if (pages == NULL)
            return NULL;
        v->pages = pages;
        pages[v->page_count] = calloc(1, sizeof(**pages));
        if (pages[v->page_count] == NULL)
            return NULL;
        v->page_count++;
    }
    return v->pages[number];
}

uint32_t
code_versions_add(struct code_versions *v, uint64_t address,
                  const uint8_t *code, size_t size)
{
    struct code_page *page = NULL;
    uint32_t version = 1;
    bool differs = false;

    for (size_t i = 0; i < size; i++) {
        const uint64_t at = (address + i) % PAGE;
        if (page == NULL || at == 0)
            page = page_of(v, address + i);
        if (page == NULL)
            return 0;
        if (page->version[at] > version)
            version = page->version[at];
        differs |= page->version[at] != 0 && page->code[at] != code[i];
    }
    version += differs;
    for (size_t i = 0; i < size; i++) {
        const uint64_t at = (address + i) % PAGE;
        if (i == 0 || at == 0)
            page = page_of(v, address + i);
        page->code[at] = code[i];
        page->version[at] = version;
    }
    return version;
}
