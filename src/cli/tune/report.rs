use std::path::Path;

use serde_json::{Value, json};

use crate::error::{Result, input_error};
use crate::experiment::tune::{
    Compared, HeldOut, Miss, Plan, Stage, Tuned, TunedParameter, Verdict, change_words,
};
use crate::report::{Format, Row, SCHEMA_VERSION, row, rows_to_csv, rows_to_table};

const PARAMETER_COLUMNS: [(&str, &str); 3] =
    [("parameter", "parameter"), ("default", "default"), ("best", "best candidate")];

const FIGURE_COLUMNS: [(&str, &str); 9] = [
    ("stage", "runs"),
    ("trace", "trace"),
    ("metric", "metric"),
    ("at_most", "bound"),
    ("defaults", "defaults"),
    ("best", "best candidate"),
    ("change_pct", "change [%]"),
    ("change_low_pct", "95 % from"),
    ("change_high_pct", "to"),
];

/// `out` is where parameters were wanted, `written` whether they are there.
pub(super) fn render(format: Format, tuned: &Tuned, out: Option<&Path>, written: bool) -> Result<String> {
    let figures: Vec<Row> = tuned.compared.iter().map(figure_row).collect();
    match format {
        Format::Csv => rows_to_csv(&figures),
        Format::Json => json(tuned, &figures),
        Format::Table | Format::Markdown => {
            let parameters: Vec<Row> = tuned.parameters.iter().map(parameter_row).collect();
            let mut text = format!(
                "{}\n\n{}\n{}\n{}\n",
                search_words(tuned),
                rows_to_table(format, &parameters, &PARAMETER_COLUMNS),
                rows_to_table(format, &figures, &FIGURE_COLUMNS),
                verdict_words(tuned)
            );
            match (out, written) {
                (Some(path), true) => {
                    text += &format!("Written to {}: take it with --params.\n", path.display())
                }
                (Some(path), false) => text += &format!("Nothing is written to {}.\n", path.display()),
                (None, _) if tuned.verdict.recommends() => {
                    text += "With --out FILE it becomes a parameter file.\n"
                }
                (None, _) => {}
            }
            Ok(text)
        }
    }
}

fn parameter_row(parameter: &TunedParameter) -> Row {
    row([
        ("parameter", parameter.key.as_str().into()),
        ("default", parameter.default.as_str().into()),
        ("best", parameter.best.as_str().into()),
    ])
}

fn figure_row(compared: &Compared) -> Row {
    row([
        ("stage", compared.stage.name().into()),
        ("trace", compared.trace.as_str().into()),
        ("metric", compared.metric.name.as_str().into()),
        ("at_most", compared.at_most.into()),
        ("defaults", compared.defaults.into()),
        ("best", compared.best.into()),
        ("difference", compared.difference.mean.into()),
        ("difference_low", compared.difference.low.into()),
        ("difference_high", compared.difference.high.into()),
        ("change_pct", compared.difference_pct.mean.into()),
        ("change_low_pct", compared.difference_pct.low.into()),
        ("change_high_pct", compared.difference_pct.high.into()),
        ("schema_version", SCHEMA_VERSION.into()),
    ])
}

fn json(tuned: &Tuned, figures: &[Row]) -> Result<String> {
    let request = &tuned.request;
    let traces: Vec<&str> = request.traces.iter().map(|trace| trace.name.as_str()).collect();
    let bounds = request.goal.bounds.iter();
    let bounds: Vec<Value> =
        bounds.map(|bound| json!({ "metric": bound.metric.name, "at_most": bound.at_most })).collect();
    let rungs = tuned.plan.rungs.iter();
    let rungs: Vec<Value> =
        rungs.map(|rung| json!({ "candidates": rung.candidates, "seeds": rung.seeds })).collect();
    let (first, last) = tuned.held_out_seeds();
    let value = json!({
        "schema_version": SCHEMA_VERSION,
        "aegis_sim_version": env!("CARGO_PKG_VERSION"),
        "verdict": tuned.verdict.name(),
        "recommended": tuned.verdict.recommends(),
        "policy": request.policy.to_string(),
        "traces": traces,
        "objective": request.goal.objective.name,
        "bounds": bounds,
        "seed": request.seed,
        "runs": tuned.runs,
        "rungs": rungs,
        "training_seeds": [1, request.training_seeds],
        "held_out": match request.held_out { HeldOut::Seeds => "seeds", HeldOut::Half => "half" },
        "held_out_seeds": [first, last],
        "parameters": tuned.parameters.iter().map(parameter_row).collect::<Vec<_>>(),
        "figures": figures,
    });
    let text = serde_json::to_string_pretty(&value);
    text.map(|text| text + "\n").map_err(|error| input_error!("cannot write the result as JSON: {error}"))
}

/// What was searched, and with how many runs.
fn search_words(tuned: &Tuned) -> String {
    let request = &tuned.request;
    let bounds = request.goal.bounds.iter();
    let bounds: Vec<String> =
        bounds.map(|bound| format!("{} at most {}", bound.metric.name, bound.at_most)).collect();
    let bounds = if bounds.is_empty() { String::new() } else { format!(", with {}", bounds.join(" and ")) };
    format!(
        "Least {} under {}{bounds}. {} runs, {} of them on held-out data: {}.",
        request.goal.objective.name,
        request.policy,
        tuned.runs,
        tuned.runs - tuned.plan.runs(),
        plan_words(&tuned.plan)
    )
}

/// "1266 candidates under 1 seed, 423 under 3, 142 under 9, 48 under 27".
fn plan_words(plan: &Plan) -> String {
    let rungs = plan.rungs.iter().enumerate().map(|(index, rung)| match index {
        0 => format!(
            "{} candidates (the defaults among them) under {} {}",
            rung.candidates,
            rung.seeds,
            if rung.seeds == 1 { "seed" } else { "seeds" }
        ),
        _ => format!("{} under {}", rung.candidates, rung.seeds),
    });
    rungs.collect::<Vec<_>>().join(", ")
}

fn verdict_words(tuned: &Tuned) -> String {
    let keep = "No better parameters found: keep the defaults.";
    let change =
        |stage| tuned.objective(stage).map_or(String::new(), |c: &Compared| change_words(&c.difference_pct));
    let objective = &tuned.request.goal.objective.name;
    let (first, last) = tuned.held_out_seeds();
    let held_out = match tuned.request.held_out {
        HeldOut::Seeds => format!("seeds {first} to {last}"),
        HeldOut::Half => format!("the second half of the jobs under seeds {first} to {last}"),
    };
    let changes = || {
        format!(
            "{objective} {} against the defaults on held-out data ({held_out}); in training, by which it was chosen, {}.",
            change(Stage::HeldOut),
            change(Stage::Training)
        )
    };
    match &tuned.verdict {
        Verdict::Better { clear: true } => format!("Recommended: the best candidate. {}", changes()),
        Verdict::Better { clear: false } => {
            format!("The best candidate, but its gain is not clear: it may be chance. {}", changes())
        }
        Verdict::KeepsBounds => format!(
            "Recommended: the best candidate, for on held-out data the defaults break a bound and it keeps all. {}",
            changes()
        ),
        Verdict::DefaultsBest => format!("{keep} None of the candidates was better in training."),
        Verdict::NotBetter => {
            format!("{keep} The best candidate in training is no better on held-out data: {}", changes())
        }
        Verdict::BreaksBound(miss) => format!(
            "No parameters found that keep the bounds on held-out data ({held_out}): keep the defaults, or leave more room by more \
             --seeds or a tighter --max. The best candidate in training has {}.",
            miss_words(miss)
        ),
        Verdict::NoneKeepsBounds(miss) => format!(
            "No candidate keeps the bounds: keep the defaults, or allow more. The nearest has {}.",
            miss_words(miss)
        ),
    }
}

/// "slowdown_p95 2.613 on philly, 4.5 % above its bound of 2.5".
fn miss_words(miss: &Miss) -> String {
    let Miss { bound, trace, value } = miss;
    let above = match bound.at_most {
        _ if value.is_nan() => return format!("no {} on {trace} to keep a bound", bound.metric.name),
        at_most if at_most > 0.0 => {
            format!("{:.1} % above its bound of {at_most}", 100.0 * (value / at_most - 1.0))
        }
        at_most => format!("above its bound of {at_most}"),
    };
    format!("{} {value:.3} on {trace}, {above}", bound.metric.name)
}
