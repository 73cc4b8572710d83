use serde::{Deserialize, Serialize};

use crate::error::{Result, input_error};

/// How far a metric may be from its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tolerance {
    /// As a fraction of the baseline's value.
    pub relative: f64,
    /// In the metric's unit, on top of that.
    pub absolute: f64,
}

impl Tolerance {
    pub(super) fn check(&self, metric: &str) -> Result<()> {
        for (key, value) in [("relative", self.relative), ("absolute", self.absolute)] {
            if !(0.0..1e12).contains(&value) {
                return Err(input_error!(
                    "tolerance of {metric}: {key}: found {value}; expected a number from 0"
                ));
            }
        }
        Ok(())
    }

    /// How far from a value is allowed, in its unit.
    pub fn allowed(&self, baseline: f64) -> f64 {
        self.absolute + self.relative * baseline.abs()
    }
}
