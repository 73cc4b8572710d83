use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::baseline::Baseline;
use super::measured::Measured;
use super::outcome::Outcome;
use crate::error::Result;
use crate::experiment::sweep::{Metric, Tolerance};
use crate::report::{Row, SCHEMA_VERSION};

/// An experiment's values beside those of its baseline.
#[derive(Debug)]
pub struct Gate {
    /// What `key` of a deviation consists of: trace, variant, policy, parameters of the axes, metric.
    pub columns: Vec<String>,
    /// In the order of the measured values, then those that only the baseline has.
    pub deviations: Vec<Deviation>,
}

/// A value and its baseline.
#[derive(Debug, Clone)]
pub struct Deviation {
    pub key: Vec<String>,
    pub outcome: Outcome,
    /// In the metric's unit, as is `value`; NaN where there is none.
    pub baseline: f64,
    pub value: f64,
    /// `None` of metrics that have none any more.
    pub tolerance: Option<Tolerance>,
    /// Why runs failed.
    pub error: Option<String>,
}

impl Gate {
    /// Compares with a baseline that was [aligned](Baseline::aligned_with); without one, everything is missing.
    ///
    /// # Errors
    /// A measured metric that is none.
    pub fn new(
        measured: &Measured,
        baseline: Option<&Baseline>,
        tolerances: &BTreeMap<String, Tolerance>,
    ) -> Result<Gate> {
        let rows = || baseline.iter().flat_map(|baseline| &baseline.rows);
        let mut stored: HashMap<&[String], f64> = rows().map(|row| (row.key.as_slice(), row.value)).collect();
        let tolerance = |key: &[String]| key.last().and_then(|metric| tolerances.get(metric)).copied();
        let mut deviations = Vec::with_capacity(measured.values.rows.len());
        for (row, error) in measured.values.rows.iter().zip(&measured.errors) {
            let metric = Metric::find(row.key.last().map_or("", String::as_str), true)?;
            let (was, tolerance) = (stored.remove(row.key.as_slice()), tolerance(&row.key));
            let outcome = match (error, was) {
                (Some(_), _) => Outcome::Failed,
                (None, None) => Outcome::Missing,
                (None, Some(was)) => {
                    Outcome::of(was, row.value, tolerance.unwrap_or_default(), metric.better())
                }
            };
            let (key, baseline) = (row.key.clone(), was.unwrap_or(f64::NAN));
            deviations.push(Deviation {
                key,
                outcome,
                baseline,
                value: row.value,
                tolerance,
                error: error.clone(),
            });
        }
        let gone = rows().filter(|row| stored.contains_key(row.key.as_slice())).map(|row| Deviation {
            key: row.key.clone(),
            outcome: Outcome::Gone,
            baseline: row.value,
            value: f64::NAN,
            tolerance: tolerance(&row.key),
            error: None,
        });
        deviations.extend(gone);
        Ok(Gate { columns: measured.values.columns.clone(), deviations })
    }

    pub fn failures(&self) -> impl Iterator<Item = &Deviation> {
        self.deviations.iter().filter(|deviation| deviation.outcome.is_failure())
    }

    pub fn count(&self, outcome: Outcome) -> usize {
        self.deviations.iter().filter(|deviation| deviation.outcome == outcome).count()
    }

    /// A row of the table.
    pub fn row(&self, deviation: &Deviation) -> Row {
        let Deviation { key, outcome, baseline, value, tolerance, error } = deviation;
        let text = |text: &String| if text.is_empty() { Value::Null } else { text.as_str().into() };
        let mut row: Row = self.columns.iter().cloned().zip(key.iter().map(text)).collect();
        let difference = value - baseline;
        let allowed = tolerance.filter(|_| !baseline.is_nan()).map(|tolerance| tolerance.allowed(*baseline));
        let further: [(&str, Value); 10] = [
            ("outcome", outcome.name().into()),
            ("baseline", (*baseline).into()),
            ("value", (*value).into()),
            ("difference", difference.into()),
            // Infinite and NaN become null.
            ("difference_pct", (100.0 * difference / baseline.abs()).into()),
            ("allowed", allowed.into()),
            ("tolerance_relative", tolerance.map(|tolerance| tolerance.relative).into()),
            ("tolerance_absolute", tolerance.map(|tolerance| tolerance.absolute).into()),
            ("error", error.clone().into()),
            ("schema_version", SCHEMA_VERSION.into()),
        ];
        row.extend(further.map(|(name, value)| (name.to_owned(), value)));
        row
    }
}

#[cfg(test)]
mod tests {
    use super::super::baseline::tests::baseline;
    use super::*;

    #[test]
    fn rows_are_paired_by_all_that_names_them() {
        let stored =
            baseline(&[("a", "0", 100.0), ("a", "30", 100.0), ("b", "30", 100.0), ("d", "", f64::NAN)]);
        let values = baseline(&[
            ("a", "30", 110.0),
            ("a", "0", 100.0),
            ("b", "60", 1.0),
            ("c", "", f64::NAN),
            ("d", "", f64::NAN),
        ]);
        let errors = vec![None, None, None, Some("2 runs failed".to_owned()), None];
        let tolerances =
            BTreeMap::from([("makespan_s".to_owned(), Tolerance { relative: 0.02, absolute: 1.0 })]);
        let gate = Gate::new(&Measured { values, errors }, Some(&stored), &tolerances).unwrap();
        let outcomes: Vec<Outcome> = gate.deviations.iter().map(|deviation| deviation.outcome).collect();
        use Outcome::*;
        assert_eq!(outcomes, [Worse, Same, Missing, Failed, Same, Gone]);
        assert_eq!((gate.failures().count(), gate.count(Same)), (4, 2));
        let row = gate.row(&gate.deviations[0]);
        assert_eq!(
            [&row["difference"], &row["difference_pct"], &row["allowed"]],
            [10.0, 10.0, 3.0].map(Value::from).each_ref()
        );
        assert_eq!(gate.row(&gate.deviations[5])["value"], Value::Null);
        assert_eq!(gate.row(&gate.deviations[4])["observation_window_s"], Value::Null);
    }
}
