//! The hold model (pop the earliest event, push one a random time later) at several queue sizes, for the
//! event queue and for `std::collections::BinaryHeap` under the same total order, which cannot cancel.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use aegis_sim::engine::{EventQueue, Time};
use aegis_sim::model::{Stream, counter_uniform};

const HOLDS: usize = 200_000;
const ROUNDS: usize = 9;

fn increments() -> Vec<i64> {
    (0..HOLDS as u64).map(|i| (counter_uniform(1, Stream::Runtime, 0, i) * 1e6) as i64).collect()
}

fn ours(size: usize, increments: &[i64]) -> i64 {
    let mut queue = EventQueue::with_capacity(size);
    for i in 0..size {
        queue.push(Time::from_micros(increments[i % HOLDS]), 0, i);
    }
    let mut last = 0;
    for &increment in increments {
        if let Some((key, event)) = queue.pop() {
            last = key.time.micros();
            queue.push(Time::from_micros(last + increment), 0, event);
        }
    }
    last
}

fn std_heap(size: usize, increments: &[i64]) -> i64 {
    let mut heap = BinaryHeap::with_capacity(size);
    let mut seq = 0u64;
    for i in 0..size {
        heap.push(Reverse((increments[i % HOLDS], 0u8, seq, i)));
        seq += 1;
    }
    let mut last = 0;
    for &increment in increments {
        if let Some(Reverse((time, _, _, event))) = heap.pop() {
            last = time;
            heap.push(Reverse((time + increment, 0, seq, event)));
            seq += 1;
        }
    }
    last
}

fn main() {
    let increments = increments();
    println!("{:>10} {:>14} {:>18} {:>8}", "pending", "ours ns/hold", "BinaryHeap ns/hold", "ratio");
    for size in [10, 100, 1_000, 10_000, 100_000] {
        let mut least = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            for (hold, least) in [ours, std_heap].into_iter().zip(&mut least) {
                let start = Instant::now();
                black_box(hold(size, &increments));
                *least = (*least).min(start.elapsed());
            }
        }
        assert_eq!(ours(size, &increments), std_heap(size, &increments), "both hold the same events");
        let [ours, std] = least.map(|time| time.as_secs_f64() * 1e9 / HOLDS as f64);
        println!("{size:10} {ours:14.1} {std:18.1} {:8.2}", ours / std);
    }
}
