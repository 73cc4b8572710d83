//! What each study says, as sentences that follow from its numbers.

use std::path::Path;

use super::study::{Found, LENGTH, Study, says};
use crate::cli::fidelity::words::names;
use crate::error::Result;
use crate::experiment::sweep::Over;

fn found(sentences: Vec<String>) -> Result<Found> {
    Ok(Found { sentences, figures: Vec::new() })
}

/// "clearly longer on philly and venus", "clearly on no trace".
fn on_traces(study: &Study<'_>, metric: &str, setting: usize, than: usize) -> String {
    let [above, below] = study.by_trace(metric, setting, than);
    match (above.is_empty(), below.is_empty()) {
        (true, true) => "clearly on no trace".to_owned(),
        (false, true) => format!("clearly longer on {}", names(&above)),
        (true, false) => format!("clearly shorter on {}", names(&below)),
        (false, false) => format!("clearly longer on {} and shorter on {}", names(&above), names(&below)),
    }
}

pub(super) fn observation_window(study: &Study<'_>, _: &Path) -> Result<Found> {
    let window = |variant: &str, value: &str| study.at(variant, &[("observation_window_s", value)]);
    let (activity, launch) = ("from first activity", "from launch");
    let (default, none) = (study.at(activity, &[]), study.at("no observation", &[]));
    let at_launch = study.at(launch, &[]);
    let values = study.values("observation_window_s");
    let best = |variant: &str| {
        let mean = |value: &&String| study.mean("makespan_s", window(variant, value));
        values.iter().min_by(|a, b| mean(a).total_cmp(&mean(b))).expect("an axis has values")
    };
    let unclear = |variant: &str| {
        let same = values
            .iter()
            .filter(|value| !study.change("makespan_s", window(variant, value), default).is_clear());
        same.count()
    };
    let longest = values.last().expect("an axis has values");
    let (least, least_launch) = (best(activity), best(launch));
    let slowdown = |setting: usize| study.mean("slowdown_mean", setting);
    let ooms = |setting: usize| study.count("failed_attempts", setting);
    found(vec![
        format!(
            "Without observation makespan is {} than with a window of 30 s from the first activity (the default), {}. Mean slowdown is \
             {:.2} instead of {:.2}, and {:.1} instead of {:.1} attempts a run die of OOM.",
            study.says("makespan_s", none, default, LENGTH),
            on_traces(study, "makespan_s", none, default),
            slowdown(none),
            slowdown(default),
            ooms(none),
            ooms(default)
        ),
        format!(
            "A window of 0 s still waits for the newest job's first activity: its makespan is {} than the default's. Of {} windows {} have \
             no clearly other makespan than the default; the one with the shortest, {least} s, is {}.",
            study.says("makespan_s", window(activity, "0"), default, LENGTH),
            values.len(),
            unclear(activity),
            study.says("makespan_s", window(activity, least), default, LENGTH)
        ),
        format!(
            "At {longest} s makespan is {} than at 30 s, and mean slowdown {:.2} instead of {:.2}.",
            study.says("makespan_s", window(activity, longest), default, LENGTH),
            slowdown(window(activity, longest)),
            slowdown(default)
        ),
        format!(
            "A window from launch runs while jobs start up: of 10 s, makespan is {} than with the default, of 30 s {} ({}), and it is \
             shortest at {least_launch} s.",
            study.says("makespan_s", window(launch, "10"), default, LENGTH),
            study.says("makespan_s", at_launch, default, LENGTH),
            on_traces(study, "makespan_s", at_launch, default),
        ),
    ])
}

pub(super) fn placement(study: &Study<'_>, _: &Path) -> Result<Found> {
    let mut sentences = Vec::new();
    for (variant, words) in
        [("fixed floor", "the fixed memory floor"), ("profiled peak", "profiled peaks of memory")]
    {
        let default = study.at(variant, &[]);
        let others: Vec<String> = study
            .values("placement")
            .into_iter()
            .filter(|order| order != "magm")
            .map(|order| {
                let setting = study.at(variant, &[("placement", &order)]);
                format!(
                    "{} is {} ({})",
                    order.to_uppercase(),
                    study.says("makespan_s", setting, default, LENGTH),
                    on_traces(study, "makespan_s", setting, default)
                )
            })
            .collect();
        sentences.push(format!("With {words}, makespan against that of MAGM: {}.", others.join("; ")));
    }
    let ooms = |variant: &str, order: &str| {
        study.count("failed_attempts", study.at(variant, &[("placement", order)]))
    };
    sentences.push(format!(
        "OOM deaths a run with the fixed floor: {}. Round robin has no memory filter, and with peaks it has {:.1}, where MAGM has {:.1}.",
        names(
            &study
                .values("placement")
                .iter()
                .map(|order| format!("{:.1} with {}", ooms("fixed floor", order), order.to_uppercase()))
                .collect::<Vec<_>>()
        ),
        ooms("profiled peak", "rr"),
        ooms("profiled peak", "magm")
    ));
    found(sentences)
}

pub(super) fn memory_information(study: &Study<'_>, _: &Path) -> Result<Found> {
    let floor = |mib: &str| study.at("fixed floor", &[("memory_floor_mib", mib)]);
    let default = study.at("fixed floor", &[]);
    let values = study.values("memory_floor_mib");
    let (first, last) = (&values[0], values.last().expect("an axis has values"));
    let mean = |mib: &&String| study.mean("makespan_s", floor(mib));
    let best = values.iter().min_by(|a, b| mean(a).total_cmp(&mean(b))).expect("an axis has values");
    let gib = |mib: &str| mib.parse::<f64>().unwrap_or(f64::NAN) / 1024.0;
    let ooms = |setting: usize| study.count("failed_attempts", setting);
    let sources = ["Horus", "FakeTensor", "GPUMemNet", "profiled peak"].map(|source| {
        let setting = study.at(source, &[]);
        format!(
            "{source} {} ({}; {:.1} OOM deaths a run)",
            study.says("makespan_s", setting, default, LENGTH),
            on_traces(study, "makespan_s", setting, default),
            ooms(setting)
        )
    });
    found(vec![
        format!(
            "OOM deaths a run fall from {:.1} with a floor of {} GiB to {:.1} with the default of 5 GiB and {:.1} with {} GiB.",
            ooms(floor(first)),
            gib(first),
            ooms(default),
            ooms(floor(last)),
            gib(last)
        ),
        format!(
            "Makespan is least with a floor of {} GiB: {} than with the default ({}). With {} GiB it is {}, with {} GiB {}.",
            gib(best),
            study.says("makespan_s", floor(best), default, LENGTH),
            on_traces(study, "makespan_s", floor(best), default),
            gib(first),
            study.says("makespan_s", floor(first), default, LENGTH),
            gib(last),
            study.says("makespan_s", floor(last), default, LENGTH),
        ),
        format!("Estimates in place of a floor, against the default floor: {}.", sources.join("; ")),
    ])
}

pub(super) fn recovery(study: &Study<'_>, _: &Path) -> Result<Found> {
    let mut sentences = Vec::new();
    for (idle, floors, words) in [
        ("idle only", "floors", "the default floor of 5 GiB"),
        ("idle only, 1 GiB", "floors, 1 GiB", "a floor of 1 GiB"),
    ] {
        let (idle, floors) = (study.at(idle, &[]), study.at(floors, &[]));
        sentences.push(format!(
            "With {words}, {:.1} attempts a run die of OOM. If the jobs come back wherever a raised floor is free, and not on idle GPUs only, \
             makespan is {} ({}) and mean JCT {}; all jobs together wait {:.0} s instead of {:.0} s between attempts, and {:.1} attempts die.",
            study.count("failed_attempts", idle),
            study.says("makespan_s", floors, idle, LENGTH),
            on_traces(study, "makespan_s", floors, idle),
            study.says("jct_mean_s", floors, idle, LENGTH),
            study.count("recovery_wait_total_s", floors),
            study.count("recovery_wait_total_s", idle),
            study.count("failed_attempts", floors),
        ));
    }
    let base = study.at("floors, 1 GiB", &[]);
    let mut clear = Vec::new();
    let mut buckets = 0;
    for step in study.values("recovery_bucket_step_mib") {
        for fraction in study.values("recovery_bucket_fraction") {
            let values = [
                ("recovery_bucket_step_mib", step.as_str()),
                ("recovery_bucket_fraction", fraction.as_str()),
            ];
            let setting = study.at("floors, 1 GiB", &values);
            let change = study.change("makespan_s", setting, base);
            buckets += 1;
            if change.is_clear() {
                clear.push(format!(
                    "steps of {step} MiB and buckets of {fraction}: {}",
                    says(&change, LENGTH)
                ));
            }
        }
    }
    sentences.push(match clear.is_empty() {
        true => format!("Of {buckets} bucket sizes none has a makespan clearly other than the default's, even with a floor of 1 GiB."),
        false => format!(
            "Of {buckets} bucket sizes with a floor of 1 GiB, {} a makespan clearly other than the default's: {}.",
            if clear.len() == 1 { "one has".to_owned() } else { format!("{} have", clear.len()) },
            clear.join("; ")
        ),
    });
    found(sentences)
}

const POLICIES: [&str; 4] = ["exclusive", "horus", "lucid", "aegis"];

pub(super) fn load(study: &Study<'_>, _: &Path) -> Result<Found> {
    let scales = study.values("arrival_rate_scale");
    let at = |policy: &str, scale: &str| study.at(policy, &[("arrival_rate_scale", scale)]);
    let (slowest, fastest) = (&scales[0], scales.last().expect("an axis has values"));
    let against = |scale: &str, metric: &str| {
        let parts: Vec<String> = ["exclusive", "horus", "lucid"]
            .iter()
            .map(|other| {
                format!("{} than {other}'s", study.says(metric, at("aegis", scale), at(other, scale), LENGTH))
            })
            .collect();
        names(&parts)
    };
    let traces = &study.results.design().traces;
    let by_trace: Vec<String> = traces
        .iter()
        .enumerate()
        .map(|(trace, name)| {
            let ratio = study.trace_mean("makespan_s_vs_baseline", at("aegis", slowest), trace);
            format!("{ratio:.2} on {name}")
        })
        .collect();
    let bound = |policy: &str, scale: &str| study.mean("makespan_vs_bound", at(policy, scale));
    found(vec![
        format!("At the traces' own rate the makespan of aegis is {}.", against("1", "makespan_s")),
        format!("When jobs arrive {fastest} times as fast, it is {}.", against(fastest, "makespan_s")),
        format!(
            "When they arrive at {slowest} times the rate, it is {}; by trace it is {} of exclusive's. Mean JCT is {}.",
            against(slowest, "makespan_s"),
            names(&by_trace),
            against(slowest, "jct_mean_s"),
        ),
        format!(
            "Of what no policy can beat, exclusive takes {:.2} and aegis {:.2} times as long at the traces' rate; {:.2} and {:.2} times at \
             {slowest} times the rate, {:.2} and {:.2} at {fastest} times.",
            bound("exclusive", "1"),
            bound("aegis", "1"),
            bound("exclusive", slowest),
            bound("aegis", slowest),
            bound("exclusive", fastest),
            bound("aegis", fastest)
        ),
    ])
}

pub(super) fn gpus(study: &Study<'_>, _: &Path) -> Result<Found> {
    let counts = study.values("gpu_count");
    let sizes = study.values("gpu_memory_mib");
    let at = |policy: &str, count: &str, mib: &str| {
        study.at(policy, &[("gpu_count", count), ("gpu_memory_mib", mib)])
    };
    let ratio = |count: &str, mib: &str| study.mean("makespan_s_vs_baseline", at("aegis", count, mib));
    let row = |mib: &str| {
        let parts: Vec<String> =
            counts.iter().map(|count| format!("{:.2} ({count})", ratio(count, mib))).collect();
        parts.join(", ")
    };
    let gb = |mib: &str| mib.parse::<f64>().unwrap_or(f64::NAN) / 1024.0;
    let mut sentences: Vec<String> = sizes
        .iter()
        .map(|mib| {
            format!(
                "Makespan of aegis over exclusive's with {} GiB, by number of GPUs: {}.",
                gb(mib),
                row(mib)
            )
        })
        .collect();
    let mut best: Vec<(String, usize)> = Vec::new();
    let mut worse = Vec::new();
    for mib in &sizes {
        for count in &counts {
            let values = [("gpu_count", count.as_str()), ("gpu_memory_mib", mib.as_str())];
            let first = study.ranking("makespan_s", &POLICIES, &values, Over::Traces)[0].clone();
            match best.iter_mut().find(|(policy, _)| *policy == first) {
                Some((_, times)) => *times += 1,
                None => best.push((first, 1)),
            }
            let change = study.change("makespan_s", at("aegis", count, mib), at("exclusive", count, mib));
            if change.low > 0.0 {
                let bound = study.mean("makespan_vs_bound", at("exclusive", count, mib));
                worse.push((format!("{count} GPUs of {} GiB", gb(mib)), format!("{bound:.2}")));
            }
        }
    }
    best.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let best: Vec<String> = best.into_iter().map(|(policy, times)| format!("{policy} in {times}")).collect();
    sentences.push(format!(
        "Number of servers, of {}, on which a policy has the shortest makespan: {}. Aegis takes clearly longer than exclusive on {}; \
         exclusive takes {} times as long there as no policy can beat.",
        counts.len() * sizes.len(),
        names(&best),
        names(&worse.iter().map(|(server, _)| server.clone()).collect::<Vec<_>>()),
        names(&worse.iter().map(|(_, bound)| bound.clone()).collect::<Vec<_>>())
    ));
    let given_up = |mib: &str| study.count("given_up_jobs", at("exclusive", "3", mib));
    let shares: Vec<String> =
        sizes.iter().map(|mib| format!("{:.1} with {} GiB", given_up(mib), gb(mib))).collect();
    let dropped = study.count("completed_jobs", at("exclusive", "3", "40960"))
        - study.count("completed_jobs", at("exclusive", "1", "40960"));
    sentences.push(format!(
        "Not all servers do the same work. Jobs a run that fit nowhere and are given up: {}. One GPU does without the jobs that need two, {dropped:.0} a trace on average. Compare policies on a server, not servers with each other.",
        names(&shares)
    ));
    found(sentences)
}

pub(super) fn interference(study: &Study<'_>, _: &Path) -> Result<Found> {
    let strengths = study.values("interference_strength");
    let at = |policy: &str, strength: &str| study.at(policy, &[("interference_strength", strength)]);
    let ranking = |strength: &str, over: Over| {
        study.ranking("makespan_s", &POLICIES, &[("interference_strength", strength)], over)
    };
    let usual = ranking("1", Over::Traces);
    let mut other = Vec::new();
    let mut cases = 0;
    for (trace, name) in study.results.design().traces.iter().enumerate() {
        let of_trace = ranking("1", Over::Trace(trace));
        for strength in &strengths {
            cases += 1;
            let found = ranking(strength, Over::Trace(trace));
            if found != of_trace {
                other.push(format!(
                    "{name} at {:.2} ({})",
                    strength.parse::<f64>().unwrap_or(f64::NAN),
                    found.join(", ")
                ));
            }
        }
    }
    let (weak, strong) = (&strengths[0], strengths.last().expect("an axis has values"));
    let ratio = |policy: &str, strength: &str| study.mean("makespan_s_vs_baseline", at(policy, strength));
    let breaks = strengths
        .iter()
        .find(|strength| study.change("makespan_s", at("aegis", strength), at("lucid", strength)).low > 0.0);
    let filter = |strength: &str| {
        study.says("makespan_s", at("aegis+no-thresholds", strength), at("aegis", strength), LENGTH)
    };
    found(vec![
        format!(
            "From the shortest makespan to the longest, the policies are {} at the measured strength. {}",
            names(&usual),
            match other.is_empty() {
                true => format!(
                    "That order is the same on each trace at every strength from {weak} to {strong} times."
                ),
                false => format!(
                    "On a trace at one strength it is another than at strength 1 in {} of {cases} cases: {}.",
                    other.len(),
                    other.join("; ")
                ),
            }
        ),
        format!(
            "How much there is to gain changes: aegis takes {:.2} of exclusive's makespan at {weak} times the measured strength, {:.2} at 1 and \
             {:.2} at {strong}; lucid {:.2}, {:.2} and {:.2}.",
            ratio("aegis", weak),
            ratio("aegis", "1"),
            ratio("aegis", strong),
            ratio("lucid", weak),
            ratio("lucid", "1"),
            ratio("lucid", strong),
        ),
        match breaks {
            Some(strength) => format!(
                "From {:.2} times on, aegis takes clearly longer than lucid.",
                strength.parse::<f64>().unwrap_or(f64::NAN)
            ),
            None => "At no strength does aegis take clearly longer than lucid.".to_owned(),
        },
        format!(
            "Without thresholds of pressure the makespan of aegis is {} at {weak}, {} at 1 and {} at {strong}.",
            filter(weak),
            filter("1"),
            filter(strong)
        ),
    ])
}
