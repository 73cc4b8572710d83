//! The observation window study, 31 windows on three traces under 20 seeds, on one thread and on two: seconds, and how many
//! times as fast two are. In turns, so that a noisy machine disturbs both; the least of each counts.

use std::time::Instant;

use aegis_sim::experiment::sweep::Experiment;
use rayon::prelude::*;

const RUNS: usize = 31 * 3 * 20;
const ROUNDS: usize = 3;

fn main() {
    let experiment = Experiment::open("observation_window").expect("it is built in");
    let mut least_s = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (threads, least_s) in (1..).zip(&mut least_s) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            // The windows from the first activity come first.
            let runner = experiment.runner();
            let begun = Instant::now();
            pool.install(|| {
                (0..RUNS).into_par_iter().for_each(|run| {
                    runner.run(experiment.design.run(run)).expect("runs of the study do not fail");
                });
            });
            *least_s = least_s.min(begun.elapsed().as_secs_f64());
        }
    }
    let [one, two] = least_s;
    println!("{RUNS} runs: {one:.2} s on one thread, {two:.2} s on two, {:.2} times as fast", one / two);
}
