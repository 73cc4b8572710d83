use super::outcome::{Stage, Tuned};
use super::search::HeldOut;
use crate::experiment::sweep::Estimate;
use crate::policy::{Domain, PARAMETERS};

/// A parameter file that `--params` takes: the searched parameters at the best candidate's values, under comments that say
/// what they were tuned for. `options` are those that the defaults came from, as on the command line.
pub fn params_text(tuned: &Tuned, options: &[String]) -> String {
    let request = &tuned.request;
    let traces: Vec<&str> = request.traces.iter().map(|trace| trace.name.as_str()).collect();
    let mut lines = vec![format!(
        "Tuned by aegis-sim {} for the least {} under {} on {}.",
        env!("CARGO_PKG_VERSION"),
        request.goal.objective.name,
        request.policy,
        traces.join(", ")
    )];
    let bounds =
        request.goal.bounds.iter().map(|bound| format!("{} <= {}", bound.metric.name, bound.at_most));
    let bounds: Vec<String> = bounds.collect();
    lines.push(match bounds.as_slice() {
        [] => "Bounds: none.".to_owned(),
        bounds => format!("Bounds (means over seeds, on every trace): {}.", bounds.join(", ")),
    });
    if !options.is_empty() {
        lines.push(format!("On top of: {}.", options.join(" ")));
    }
    lines.push(format!(
        "Search: {} runs, {} candidates of {}, seed {}.",
        tuned.runs,
        tuned.plan.candidates(),
        request.space.source,
        request.seed
    ));
    let halves = |half| match request.held_out {
        HeldOut::Seeds => "",
        HeldOut::Half => half,
    };
    let change = |stage| tuned.objective(stage).map(|compared| change_words(&compared.difference_pct));
    if let Some(change) = change(Stage::Training) {
        let of = halves(", first half of the jobs");
        lines.push(format!(
            "Training, seeds 1 to {}{of}: {change} against the defaults.",
            request.training_seeds
        ));
    }
    if let Some(change) = change(Stage::HeldOut) {
        let of = halves(", second half of the jobs");
        let (first, last) = tuned.held_out_seeds();
        lines.push(format!("Held out, seeds {first} to {last}{of}: {change} against the defaults."));
    }
    // Names of files may hold anything; a line end would leave the comment.
    let comments: String =
        lines.iter().map(|line| format!("# {}\n", line.replace(|c: char| c.is_control(), " "))).collect();
    let values = tuned.parameters.iter().map(|p| format!("{} = {}\n", p.key, toml_value(&p.key, &p.best)));
    let values: String = values.collect();
    format!("{comments}schema_version = 1\n\n[{}]\n{values}", request.policy.kind.name())
}

/// "-3.21 % (95 %: -4.00 to -2.43 %)".
pub fn change_words(change_pct: &Estimate) -> String {
    let Estimate { mean, low, high } = change_pct;
    match (mean.is_nan(), low.is_nan()) {
        (true, _) => "not to be had in percent".to_owned(),
        (false, true) => format!("{mean:+.2} % (one seed, and so no interval)"),
        (false, false) => format!("{mean:+.2} % (95 %: {low:+.2} to {high:+.2} %)"),
    }
}

/// Words need quotes.
fn toml_value(key: &str, text: &str) -> String {
    let parameter = PARAMETERS.iter().find(|parameter| parameter.key == key);
    match parameter.map(|parameter| parameter.domain) {
        Some(Domain::Choice(_) | Domain::IndexOr(_)) => format!("\"{text}\""),
        _ => text.to_owned(),
    }
}
