//! What the measured runs would have been with sound telemetry on all GPUs.

use std::path::Path;

use super::words::{grouped, names, verdict};
use crate::cli::validate::report::{Columns, Sections};
use crate::error::Result;
use crate::experiment::{
    Change, Counterfactual, CounterfactualRun, Difference, Interval, ReductionChange, SlowdownChange,
};
use crate::report::plot::{self, ConditionGroup, ConditionPanel};
use crate::report::{Row, row};

pub(super) const FIGURE: &str = "blind_gpu";
const CONDITIONS: [&str; 2] = ["simulated, blind GPU", "simulated, sound"];

/// Figures of the table of runs: name, heading, what the heading's unit is in the figure's, decimals.
const RUN_FIGURES: [(&str, &str, f64, usize); 7] = [
    ("makespan_s", "makespan [s]", 1.0, 0),
    ("jct_mean_s", "mean JCT [s]", 1.0, 0),
    ("execution_time_mean_s", "mean execution time [s]", 1.0, 0),
    ("failed_attempts", "failed attempts", 1.0, 1),
    ("energy_j", "energy [kJ]", 1000.0, 0),
    ("slowdown_mean", "mean slowdown", 1.0, 2),
    ("slowdown_p95", "95th percentile of slowdown", 1.0, 2),
];
const CHANGE: Columns<'static> = &[
    ("of", ""),
    ("measured", "measured"),
    ("as_measured", "blind GPU"),
    ("as_measured_interval", "90 % of runs"),
    ("sound", "sound telemetry"),
    ("sound_interval", "90 % of runs"),
    ("difference", "mean difference"),
    ("difference_interval", "90 % confidence"),
    ("single", "90 % of pairs"),
];
const RUN: Columns<'static> = &[
    ("figure", "figure"),
    ("of", ""),
    ("as_measured", "blind GPU"),
    ("as_measured_interval", "90 % of runs"),
    ("sound", "sound telemetry"),
    ("sound_interval", "90 % of runs"),
    ("difference", "mean difference"),
    ("difference_interval", "90 % confidence"),
];

/// What was found, in words.
pub(super) fn section(sections: &mut Sections, counterfactual: &Counterfactual) {
    sections.text += "\
## What a blind GPU changed

AEGIS rejects a GPU whose SMACT or SMOCC is too high; where they read zero, only DRAMA and memory hold jobs back. So the measured
runs are not those of a scheduler that sees what it should. Here the same runs under the same seeds, as they were measured (*blind
GPU*) and with sound telemetry on all GPUs (*sound*). A difference is that of two runs under the same seed, blind less sound; the
confidence interval is that of its mean over seeds, and a difference whose interval includes 0 is not clear.

";
    sections.text += &unaffected(&counterfactual.runs);
    sections.text += &findings(counterfactual);
}

/// The numbers behind it.
pub(super) fn tables(sections: &mut Sections, counterfactual: &Counterfactual) {
    let reductions: Vec<Row> = counterfactual.reductions.iter().map(reduction_row).collect();
    sections.table("Reductions of geometric means, in percent", &reductions, CHANGE);
    let slowdowns: Vec<Row> = counterfactual
        .slowdowns
        .iter()
        .flat_map(|slowdown| {
            [("mean", &slowdown.mean), ("95th percentile", &slowdown.p95)].map(|(statistic, change)| {
                change_row(format!("{statistic}, {}", slowdown.policy), "-".to_owned(), change, 1.0, 2)
            })
        })
        .collect();
    sections.table("Slowdowns (execution time over solo runtime), means over the traces", &slowdowns, CHANGE);
    let affected = || counterfactual.runs.iter().filter(|run| run.affected);
    let runs: Vec<Row> = RUN_FIGURES
        .iter()
        .flat_map(|figure| affected().filter_map(move |run| run_row(run, figure)))
        .collect();
    sections.table("Runs", &runs, RUN);
}

/// Which runs are the same under both conditions.
fn unaffected(runs: &[CounterfactualRun]) -> String {
    let policies = |keep: &dyn Fn(&CounterfactualRun) -> bool| {
        let mut policies: Vec<String> = Vec::new();
        for run in runs.iter().filter(|run| keep(run)) {
            if !policies.contains(&run.policy.to_string()) {
                policies.push(run.policy.to_string());
            }
        }
        policies
    };
    let blind = runs.iter().filter(|run| run.blind).count();
    let affected = runs.iter().filter(|run| run.affected).count();
    let same = policies(&|run| runs.iter().all(|other| other.policy != run.policy || !other.affected));
    let sound: Vec<String> = runs
        .iter()
        .filter(|run| !run.blind && !same.contains(&run.policy.to_string()))
        .map(|run| format!("{} on {}", run.policy, run.trace))
        .collect();
    let mut text = format!(
        "Of the {blind} runs with a blind GPU, {affected} change. Under {} no job ends at another time, whatever the seed: these \
         policies do not read the counters.",
        names(&same)
    );
    if !sound.is_empty() {
        text += &format!(
            " Measured with sound telemetry, and so no different here although its policy reads them: {}.",
            names(&sound)
        );
    }
    text + "\n\n"
}

/// Every finding as a sentence, and in short.
fn findings(counterfactual: &Counterfactual) -> String {
    let mut text = String::new();
    for reduction in &counterfactual.reductions {
        let ReductionChange { policy, against, change, .. } = reduction;
        let less = |pct: f64| format!("{:.1} % {}", pct.abs(), if pct < 0.0 { "more" } else { "less" });
        text += &format!(
            "- {} of {policy} against {against}: {} with the blind GPU, {} without. {}\n",
            figure_name(reduction.figure),
            less(change.as_measured.median),
            less(change.sound.median),
            verdict(
                &change.difference,
                ["The blind GPU made the gain larger", "The blind GPU made the gain smaller"],
                " points",
                (change.as_measured.median > 0.0).then_some((change.as_measured.median, "of the gain")),
            ),
        );
    }
    for slowdown in &counterfactual.slowdowns {
        for (statistic, change) in [("Mean", &slowdown.mean), ("95th percentile of", &slowdown.p95)] {
            let beyond = change.as_measured.median - 1.0;
            text += &format!(
                "- {statistic} slowdown of {}: {:.2} with the blind GPU, {:.2} without. {}\n",
                slowdown.policy,
                change.as_measured.median,
                change.sound.median,
                verdict(
                    &change.difference,
                    ["The blind GPU made it higher", "The blind GPU made it lower"],
                    "",
                    (beyond > 0.0).then_some((beyond, "of what it is beyond 1")),
                ),
            );
        }
    }
    text + &format!("\n{}\n", in_short(counterfactual))
}

/// Directions of the differences alone.
fn in_short(counterfactual: &Counterfactual) -> String {
    let gains = |figure: &str| {
        let of_figure = counterfactual.reductions.iter().filter(|reduction| reduction.figure == figure);
        let directions = of_figure
            .map(|reduction| (reduction.change.difference.direction(), reduction.against.to_string()));
        grouped(&directions.collect::<Vec<_>>(), ["larger", "smaller", "not clearly different"], "against")
    };
    let words = ["higher", "lower", "not clearly different"];
    let slowdowns = |change: fn(&SlowdownChange) -> &Change| {
        let directions = counterfactual
            .slowdowns
            .iter()
            .map(|slowdown| (change(slowdown).difference.direction(), slowdown.policy.to_string()));
        grouped(&directions.collect::<Vec<_>>(), words, "under")
    };
    let runs = |figure: &str| {
        let affected = counterfactual.runs.iter().filter(|run| run.affected);
        let directions = affected.filter_map(|run| {
            Some((run.figure(figure)?.difference.direction(), format!("{} on {}", run.policy, run.trace)))
        });
        grouped(&directions.collect::<Vec<_>>(), words, "for")
    };
    format!(
        "\
In short, with a blind GPU

- the gain in makespan is {};
- the gain in mean JCT is {};
- the mean slowdown is {}, and its 95th percentile {};
- run by run, makespan is {};
- energy is {}.
",
        gains("makespan_s"),
        gains("jct_mean_s"),
        slowdowns(|slowdown| &slowdown.mean),
        slowdowns(|slowdown| &slowdown.p95),
        runs("makespan_s"),
        runs("energy_j"),
    )
}

fn figure_name(figure: &str) -> &'static str {
    if figure == "makespan_s" { "Makespan" } else { "Mean JCT" }
}

fn reduction_row(reduction: &ReductionChange) -> Row {
    let of = format!("{} against {}", figure_name(reduction.figure), reduction.against);
    change_row(of, format!("{:.1}", reduction.measured_pct), &reduction.change, 1.0, 1)
}

fn run_row(run: &CounterfactualRun, figure: &(&str, &str, f64, usize)) -> Option<Row> {
    let (name, heading, unit, decimals) = *figure;
    let change = run.figure(name)?;
    let mut row = change_row(format!("{} {}", run.trace, run.policy), String::new(), change, unit, decimals);
    row.insert("figure".into(), heading.into());
    Some(row)
}

/// Texts: medians have the decimals given, differences one more.
fn change_row(of: String, measured: String, change: &Change, unit: f64, decimals: usize) -> Row {
    let finer = if decimals == 0 { 0 } else { decimals + 1 };
    let median = |interval: Interval| format!("{:.decimals$}", interval.median / unit);
    let ends = |interval: Interval| {
        format!("{:.decimals$} to {:.decimals$}", interval.p5 / unit, interval.p95 / unit)
    };
    let signed = |low: f64, high: f64| format!("{:+.finer$} to {:+.finer$}", low / unit, high / unit);
    let Difference { mean, low, high, over_seeds } = &change.difference;
    row([
        ("of", of.into()),
        ("measured", measured.into()),
        ("as_measured", median(change.as_measured).into()),
        ("as_measured_interval", ends(change.as_measured).into()),
        ("sound", median(change.sound).into()),
        ("sound_interval", ends(change.sound).into()),
        ("difference", format!("{:+.finer$}", mean / unit).into()),
        ("difference_interval", signed(*low, *high).into()),
        ("single", signed(over_seeds.p5, over_seeds.p95).into()),
    ])
}

/// Draws it; name and caption.
pub(super) fn write_figure(
    dir: &Path,
    counterfactual: &Counterfactual,
) -> Result<(&'static str, &'static str)> {
    let group = |name: String, change: &Change, measured: Option<f64>| ConditionGroup {
        name,
        values: [change.as_measured, change.sound]
            .map(|interval| [interval.p5, interval.median, interval.p95]),
        measured,
    };
    let reductions =
        counterfactual.reductions.iter().filter(|reduction| reduction.figure == "makespan_s").map(
            |reduction| {
                group(format!("vs {}", reduction.against), &reduction.change, Some(reduction.measured_pct))
            },
        );
    let slowdowns = counterfactual
        .slowdowns
        .iter()
        .map(|slowdown| group(slowdown.policy.to_string(), &slowdown.mean, None));
    let panels = [
        ConditionPanel {
            title: "makespan of AEGIS".to_owned(),
            label: "reduction [%]".to_owned(),
            groups: reductions.collect(),
        },
        ConditionPanel {
            title: "mean slowdown".to_owned(),
            label: "slowdown".to_owned(),
            groups: slowdowns.collect(),
        },
    ];
    plot::write(dir, FIGURE, &plot::conditions(CONDITIONS, &panels))?;
    Ok((
        FIGURE,
        "Reduction of the geometric mean makespan, and mean slowdown over the traces, under the conditions of the measured runs \
         and with sound telemetry on all GPUs: medians over seeds with 90 % intervals.",
    ))
}
