// SPDX-License-Identifier: MIT
// Benchmarks that list their names: sort_rs --list, sort_rs NAME.
use std::collections::BTreeMap;

fn numbers() -> Vec<u32> {
    // The same each time.
    let mut state: u32 = 1;
    (0..20000)
        .map(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            state >> 8
        })
        .collect()
}

fn sort() -> u32 {
    let mut all = numbers();
    all.sort_unstable();
    all[all.len() / 2]
}

fn tree() -> u32 {
    let mut counts = BTreeMap::new();
    for n in numbers() {
        *counts.entry(n).or_insert(0usize) += 1;
    }
    *counts.keys().nth(counts.len() / 2).unwrap()
}

fn main() {
    let benchmarks: [(&str, fn() -> u32); 2] = [("sort", sort), ("tree", tree)];
    match std::env::args().nth(1).as_deref() {
        Some("--list") => benchmarks.iter().for_each(|(name, _)| println!("{name}")),
        Some(word) => match benchmarks.iter().find(|(name, _)| *name == word) {
            Some((_, run)) => println!("{}", run()),
            None => std::process::exit(2),
        },
        None => std::process::exit(2),
    }
}
