//! Deviations as sentences.

use super::baseline::one_line;
use super::comparison::{Deviation, Gate};
use super::outcome::Outcome;
use crate::experiment::sweep::{Tolerance, significant};

impl Gate {
    /// Of what a deviation is, on one line: "aegis, observation_window_s 30, makespan_s". A variant that is not named like its
    /// policy has that behind it in brackets.
    pub fn subject(&self, deviation: &Deviation) -> String {
        let mut parts = Vec::new();
        for (column, field) in self.columns.iter().zip(&deviation.key) {
            match (column.as_str(), field.as_str()) {
                ("trace", _) | (_, "") => {}
                ("variant" | "metric", name) => parts.push(name.to_owned()),
                ("policy", policy) => {
                    if let Some(variant) = parts.last_mut().filter(|variant| *variant != policy) {
                        *variant += &format!(" ({policy})");
                    }
                }
                (parameter, value) => parts.push(format!("{parameter} {value}")),
            }
        }
        one_line(&parts.join(", "))
    }

    /// The trace of a deviation.
    pub fn trace(deviation: &Deviation) -> String {
        one_line(deviation.key.first().map_or("", String::as_str))
    }

    /// All of it on one line: "philly, aegis, makespan_s: 33120 against 31969 in the baseline, +3.6 %, allowed 2 %".
    pub fn sentence(&self, deviation: &Deviation) -> String {
        format!("{}, {}: {}", Self::trace(deviation), self.subject(deviation), finding(deviation))
    }

    /// How many values have which outcome: "80 same, 2 worse".
    pub fn tally(&self) -> String {
        let counts = Outcome::ALL.map(|outcome| (self.count(outcome), outcome.name()));
        let said =
            counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
        said.collect::<Vec<_>>().join(", ")
    }
}

/// What was found, without of what.
fn finding(deviation: &Deviation) -> String {
    let (baseline, value) = pair(deviation.baseline, deviation.value);
    match deviation.outcome {
        Outcome::Failed => one_line(deviation.error.as_deref().unwrap_or("runs failed")),
        Outcome::Missing => format!("{value}, and not in the baseline: add it with check --update"),
        Outcome::Gone => {
            format!(
                "{baseline} in the baseline, and no longer in the experiment: remove it with check --update"
            )
        }
        _ => {
            let tolerance = deviation.tolerance.unwrap_or_default();
            format!("{value} against {baseline} in the baseline{}", change(deviation, tolerance))
        }
    }
}

/// ", +3.6 %, allowed 2 %": in the unit of the tolerance.
fn change(deviation: &Deviation, tolerance: Tolerance) -> String {
    let Deviation { baseline, value, .. } = *deviation;
    let Tolerance { relative, absolute } = tolerance;
    let percent = |share: f64| significant(100.0 * share, 3);
    let allowed = match (relative > 0.0, absolute > 0.0) {
        (true, true) => format!("{} % and {absolute}", percent(relative)),
        (true, false) => format!("{} %", percent(relative)),
        (false, _) => absolute.to_string(),
    };
    let difference = value - baseline;
    if difference.is_nan() {
        return format!(", allowed {allowed}");
    }
    let sign = if difference >= 0.0 { "+" } else { "" };
    let by = match relative > 0.0 && baseline != 0.0 {
        true => format!("{} %", percent(difference / baseline.abs())),
        false => significant(difference, 3),
    };
    format!(", {sign}{by}, allowed {allowed}")
}

/// Both to as many digits as tell them apart: at least five, and all before the point.
fn pair(one: f64, other: f64) -> (String, String) {
    let text = |value: f64, digits| if value.is_nan() { "none".into() } else { significant(value, digits) };
    let before_point = one.abs().max(other.abs()).max(1.0).log10() as usize + 1;
    let texts = |digits| (text(one, digits), text(other, digits));
    let apart = (before_point.max(5)..17).map(texts).find(|(a, b)| a != b || one == other);
    apart.unwrap_or_else(|| texts(17))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::gate::baseline::tests::baseline;

    fn says(outcome: Outcome, baseline: f64, value: f64, relative: f64, absolute: f64) -> String {
        let (tolerance, error) = (Some(Tolerance { relative, absolute }), None);
        finding(&Deviation { key: Vec::new(), outcome, baseline, value, tolerance, error })
    }

    #[test]
    fn findings_hold_the_figures_that_matter() {
        use Outcome::*;
        let text = |baseline, value, relative, absolute| says(Worse, baseline, value, relative, absolute);
        assert_eq!(
            text(31_968.62, 33_119.7, 0.02, 0.0),
            "33120 against 31969 in the baseline, +3.6 %, allowed 2 %"
        );
        assert_eq!(text(4.0, 3.1, 0.0, 0.5), "3.1 against 4 in the baseline, -0.9, allowed 0.5");
        assert_eq!(text(0.0, 0.3, 0.02, 0.0), "0.3 against 0 in the baseline, +0.3, allowed 2 %");
        assert_eq!(text(4.0, 5.0, 0.02, 0.5), "5 against 4 in the baseline, +25 %, allowed 2 % and 0.5");
        assert_eq!(
            text(1.0, 1.000_000_1, 0.0, 0.0),
            "1.0000001 against 1 in the baseline, +0.0000001, allowed 0"
        );
        assert!(text(24_062_481.4, 24_307_889.2, 0.01, 0.0).starts_with("24307889 against 24062481 in"));
        let blank = "none against 4 in the baseline, allowed 2 %";
        assert_eq!(says(Changed, 4.0, f64::NAN, 0.02, 0.0), blank);
        assert!(says(Missing, f64::NAN, 4.0, 0.02, 0.0).starts_with("4, and not in the baseline"));
        assert!(says(Gone, 4.0, f64::NAN, 0.02, 0.0).starts_with("4 in the baseline, and no longer"));
    }

    #[test]
    fn a_subject_names_policy_and_axes_on_one_line() {
        let gate = Gate { columns: baseline(&[]).columns, deviations: Vec::new() };
        let of = |variant: &str, window: &str| {
            let key = baseline(&[(variant, window, 1.0)]).rows[0].key.clone();
            let deviation = Deviation {
                key,
                outcome: Outcome::Failed,
                baseline: 1.0,
                value: 1.0,
                tolerance: None,
                error: None,
            };
            gate.sentence(&deviation)
        };
        assert_eq!(of("aegis", ""), "philly, aegis, makespan_s: runs failed");
        assert_eq!(of("a\nb", "30"), "philly, a b (aegis), observation_window_s 30, makespan_s: runs failed");
    }
}
