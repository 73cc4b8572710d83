use crate::experiment::sweep::{Better, Tolerance};

/// How a value stands to that in the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exactly equal, or without a value on both sides.
    Same,
    /// Within tolerance.
    Within,
    /// Beyond tolerance in the good direction.
    Better,
    /// Beyond tolerance in the bad direction.
    Worse,
    /// Beyond tolerance, of a metric without a direction; or with a value on one side only.
    Changed,
    /// Not in the baseline.
    Missing,
    /// Runs failed.
    Failed,
    /// In the baseline, and no longer in the experiment.
    Gone,
}

impl Outcome {
    pub const ALL: [Outcome; 8] = [
        Outcome::Same,
        Outcome::Within,
        Outcome::Better,
        Outcome::Worse,
        Outcome::Changed,
        Outcome::Missing,
        Outcome::Failed,
        Outcome::Gone,
    ];

    /// Of a value that is there on both sides; NaN stands for none.
    pub fn of(baseline: f64, value: f64, tolerance: Tolerance, better: Better) -> Outcome {
        if baseline == value || baseline.is_nan() && value.is_nan() {
            return Outcome::Same;
        }
        if baseline.is_nan() || value.is_nan() {
            return Outcome::Changed;
        }
        if is_within(baseline, value, tolerance) {
            return Outcome::Within;
        }
        match better {
            Better::Neither => Outcome::Changed,
            Better::Lower if value < baseline => Outcome::Better,
            Better::Higher if value > baseline => Outcome::Better,
            _ => Outcome::Worse,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Outcome::Same => "same",
            Outcome::Within => "within",
            Outcome::Better => "better",
            Outcome::Worse => "worse",
            Outcome::Changed => "changed",
            Outcome::Missing => "missing",
            Outcome::Failed => "failed",
            Outcome::Gone => "gone",
        }
    }

    pub fn is_failure(self) -> bool {
        !matches!(self, Outcome::Same | Outcome::Within | Outcome::Better)
    }
}

/// At the limit counts as within, as read in decimal: 1.3 is within 0.1 of 1.2, although the difference of the two in binary
/// is a little more. Where nothing is allowed, there is nothing to round.
fn is_within(baseline: f64, value: f64, tolerance: Tolerance) -> bool {
    let allowed = tolerance.allowed(baseline);
    let rounding = f64::EPSILON * (baseline.abs() + value.abs() + 2.0 * allowed);
    allowed > 0.0 && (value - baseline).abs() <= allowed + rounding
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(baseline: f64, value: f64, relative: f64, absolute: f64, better: Better) -> Outcome {
        Outcome::of(baseline, value, Tolerance { relative, absolute }, better)
    }

    fn lower(baseline: f64, value: f64, relative: f64, absolute: f64) -> Outcome {
        of(baseline, value, relative, absolute, Better::Lower)
    }

    /// A few units in the last place further from 0: beyond what rounding explains.
    fn beyond(value: f64) -> f64 {
        value + 4.0 * f64::EPSILON * value
    }

    #[test]
    fn the_limit_itself_is_within() {
        for (baseline, value, relative, absolute) in [
            (100.0, 102.0, 0.02, 0.0),
            (31_969.0, 32_608.38, 0.02, 0.0),
            (1.2, 1.3, 0.0, 0.1),
            (0.1, 0.3, 0.0, 0.2),
            (100.0, 103.0, 0.02, 1.0),
            (-100.0, -98.0, 0.02, 0.0),
            (0.0, 0.5, 0.02, 0.5),
            (1e-9, 1.02e-9, 0.02, 0.0),
            (1e15, 1.02e15, 0.02, 0.0),
        ] {
            assert_eq!(lower(baseline, value, relative, absolute), Outcome::Within, "{baseline} {value}");
            let mirrored = 2.0 * baseline - value;
            assert_eq!(
                lower(baseline, mirrored, relative, absolute),
                Outcome::Within,
                "{baseline} {mirrored}"
            );
        }
    }

    #[test]
    fn a_little_beyond_the_limit_is_not() {
        for (baseline, value, relative, absolute) in [
            (100.0, beyond(102.0), 0.02, 0.0),
            (1.2, beyond(1.3), 0.0, 0.1),
            (100.0, beyond(103.0), 0.02, 1.0),
            (0.0, beyond(0.5), 0.02, 0.5),
        ] {
            assert_eq!(lower(baseline, value, relative, absolute), Outcome::Worse, "{baseline} {value}");
            let mirrored = 2.0 * baseline - value;
            assert_eq!(
                lower(baseline, mirrored, relative, absolute),
                Outcome::Better,
                "{baseline} {mirrored}"
            );
        }
    }

    #[test]
    fn a_share_of_nothing_is_nothing() {
        assert_eq!(lower(0.0, 0.0, 0.5, 0.0), Outcome::Same);
        assert_eq!(lower(0.0, -0.0, 0.5, 0.0), Outcome::Same);
        assert_eq!(lower(0.0, 1e-300, 0.5, 0.0), Outcome::Worse);
        assert_eq!(lower(0.0, -1e-300, 0.5, 0.0), Outcome::Better);
        assert_eq!(lower(100.0, 100.0, 0.0, 0.0), Outcome::Same);
        // Without a tolerance nothing is rounded.
        assert_eq!(lower(100.0, 100.0f64.next_up(), 0.0, 0.0), Outcome::Worse);
    }

    #[test]
    fn the_direction_is_that_of_the_metric() {
        for (value, lower, higher) in
            [(110.0, Outcome::Worse, Outcome::Better), (90.0, Outcome::Better, Outcome::Worse)]
        {
            assert_eq!(of(100.0, value, 0.05, 0.0, Better::Lower), lower);
            assert_eq!(of(100.0, value, 0.05, 0.0, Better::Higher), higher);
            assert_eq!(of(100.0, value, 0.05, 0.0, Better::Neither), Outcome::Changed);
        }
        assert!(Outcome::Changed.is_failure() && Outcome::Gone.is_failure() && !Outcome::Better.is_failure());
    }

    #[test]
    fn no_value_is_like_no_value_only() {
        assert_eq!(lower(f64::NAN, f64::NAN, 0.0, 0.0), Outcome::Same);
        assert_eq!(lower(f64::NAN, 1.0, 9.0, 9.0), Outcome::Changed);
        assert_eq!(lower(1.0, f64::NAN, 9.0, 9.0), Outcome::Changed);
    }
}
