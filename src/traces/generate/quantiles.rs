use serde::Deserialize;

use crate::error::{Result, input_error};

/// A distribution of times or counts, given by quantiles; values from it are rounded up to whole ones.
///
/// Between two points `ln(1 + value)` is linear in the probability, so the distribution is log-uniform there, and the
/// CDF at whole numbers is the same with and without rounding. Two points of one value are an atom, and so is the
/// first point's probability. Beyond the last point follows a Pareto tail that ends at a largest value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    /// Probability, and the value that is not exceeded with it; both ascending.
    pub points: Vec<[f64; 2]>,
    /// Only where the last point's probability is below 1.
    pub tail: Option<Tail>,
}

/// `P(X > x) = (x^-alpha - max^-alpha) / (low^-alpha - max^-alpha)` above `low`, the last point's value.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    pub alpha: f64,
    pub max: f64,
}

/// Up to here the mean of the rounded values is summed up exactly.
const SUMMED: usize = 1000;

impl Quantiles {
    /// All values the same.
    pub fn constant(value: f64) -> Quantiles {
        Quantiles { points: vec![[1.0, value]], tail: None }
    }

    fn last(&self) -> [f64; 2] {
        self.points[self.points.len() - 1]
    }

    /// The largest value.
    pub fn max(&self) -> f64 {
        self.tail.map_or(self.last()[1], |tail| tail.max)
    }

    /// Probability that `x` is not exceeded.
    pub fn cdf(&self, x: f64) -> f64 {
        let next = self.points.partition_point(|point| point[1] <= x);
        let Some(&[low_p, low]) = next.checked_sub(1).map(|i| &self.points[i]) else { return 0.0 };
        match (self.points.get(next), self.tail) {
            (Some(&[high_p, high]), _) => {
                let share = libm::log((1.0 + x) / (1.0 + low)) / libm::log((1.0 + high) / (1.0 + low));
                low_p + share * (high_p - low_p)
            }
            (None, Some(tail)) => low_p + (1.0 - low_p) * tail.cdf(low, x),
            (None, None) => 1.0,
        }
    }

    /// The value that is not exceeded with probability `p`, not rounded.
    pub fn quantile(&self, p: f64) -> f64 {
        let next = self.points.partition_point(|point| point[0] < p);
        let Some(&[high_p, high]) = self.points.get(next) else {
            let [low_p, low] = self.last();
            return self.tail.map_or(low, |tail| tail.quantile(low, (p - low_p) / (1.0 - low_p)));
        };
        let Some(&[low_p, low]) = next.checked_sub(1).map(|i| &self.points[i]) else { return high };
        let share = (p - low_p) / (high_p - low_p);
        // An atom must come back exactly, or it would be rounded up to the next number.
        ((1.0 + low) * libm::pow((1.0 + high) / (1.0 + low), share) - 1.0).clamp(low, high)
    }

    /// The quantile, rounded up.
    pub fn whole(&self, p: f64) -> f64 {
        self.quantile(p).ceil()
    }

    /// Mean without rounding.
    pub fn mean(&self) -> f64 {
        self.integral_from(0.0)
    }

    /// Mean of the values rounded up.
    pub fn whole_mean(&self) -> f64 {
        let summed: f64 = (0..SUMMED).map(|k| 1.0 - self.cdf(k as f64)).sum();
        let start = SUMMED as f64;
        let above = 1.0 - self.cdf(start);
        // Beyond, rounding adds half of one on average.
        summed + self.integral_from(1.0 - above) - above * (start - 0.5)
    }

    /// The integral of the quantile function from `p` to 1.
    fn integral_from(&self, p: f64) -> f64 {
        let [first_p, first] = self.points[0];
        let mut sum = (first_p - p).max(0.0) * first;
        for pair in self.points.windows(2) {
            let ([low_p, _], [high_p, high]) = (pair[0], pair[1]);
            let from_p = p.max(low_p);
            if from_p >= high_p {
                continue;
            }
            let from = if from_p == low_p { pair[0][1] } else { self.quantile(from_p) };
            let ratio = libm::log((1.0 + high) / (1.0 + from));
            // The mean of exp over an interval, less 1.
            let mean = if ratio < 1e-12 { high } else { (high - from) / ratio - 1.0 };
            sum += (high_p - from_p) * mean;
        }
        if let (Some(tail), [last_p, low]) = (self.tail, self.last()) {
            let from_p = p.max(last_p);
            if from_p >= 1.0 {
                return sum;
            }
            let from = tail.quantile(low, (from_p - last_p) / (1.0 - last_p));
            sum += (1.0 - from_p) * tail.mean(from);
        }
        sum
    }

    /// Whether this can be used; `place` is the file and the key, `least` the smallest value that makes sense.
    pub(super) fn check(&self, place: &str, least: f64, most: f64) -> Result<()> {
        let Some(&[first_p, first]) = self.points.first() else {
            return Err(input_error!("{place}.points: empty; add [probability, value] pairs"));
        };
        for &[p, value] in &self.points {
            if !(0.0..=1.0).contains(&p) || !(least..=most).contains(&value) {
                return Err(input_error!(
                    "{place}.points: found [{p}, {value}]; expected a probability from 0 to 1 and a value from {least} \
                     to {most}"
                ));
            }
        }
        if let Some(pair) = self.points.windows(2).find(|w| w[1][0] < w[0][0] || w[1][1] < w[0][1]) {
            return Err(input_error!(
                "{place}.points: {:?} follows {:?}; expected both numbers to ascend",
                pair[1],
                pair[0]
            ));
        }
        let [last_p, last] = self.last();
        match self.tail {
            None if last_p < 1.0 => Err(input_error!(
                "{place}.points: ends at probability {last_p}; end it at 1, or add a tail such as tail = {{ alpha = 1.2, \
                 max = {} }}",
                (10.0 * last).max(10.0)
            )),
            Some(_) if last_p >= 1.0 => Err(input_error!(
                "{place}.tail: points end at probability 1 already, so nothing is left for a tail; remove one of the two"
            )),
            Some(tail) if !(0.01..=20.0).contains(&tail.alpha) => Err(input_error!(
                "{place}.tail.alpha: found {}; expected a number from 0.01 to 20",
                tail.alpha
            )),
            Some(tail) if !(tail.max > last && last >= 1.0 && tail.max <= most) => Err(input_error!(
                "{place}.tail.max: found {} beyond a last point of {last}; expected it above the last point, which is to \
                 be at least 1, and up to {most}",
                tail.max
            )),
            _ if first_p == 0.0 && self.points.len() == 1 => {
                Err(input_error!("{place}.points: [0, {first}] alone says nothing; add more points"))
            }
            _ => Ok(()),
        }
    }
}

impl Tail {
    /// `P(X <= x)` above `low`.
    fn cdf(&self, low: f64, x: f64) -> f64 {
        if x >= self.max {
            return 1.0;
        }
        let power = |ratio: f64| libm::pow(ratio, -self.alpha);
        (1.0 - power(x / low)) / (1.0 - power(self.max / low))
    }

    fn quantile(&self, low: f64, p: f64) -> f64 {
        let least = libm::pow(self.max / low, -self.alpha);
        (low * libm::pow(1.0 - p * (1.0 - least), -1.0 / self.alpha)).clamp(low, self.max)
    }

    /// Mean above `low`.
    fn mean(&self, low: f64) -> f64 {
        let (ratio, alpha) = (self.max / low, self.alpha);
        // Next to the end all that is left is the end itself.
        if ratio < 1.0 + 1e-9 {
            return self.max;
        }
        if (alpha - 1.0).abs() < 1e-9 {
            return low * libm::log(ratio) / (1.0 - 1.0 / ratio);
        }
        let of = |exponent: f64| 1.0 - libm::pow(ratio, exponent);
        low * alpha / (alpha - 1.0) * of(1.0 - alpha) / of(-alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Quantiles {
        Quantiles {
            points: vec![[0.1, 0.0], [0.2, 0.0], [0.5, 9.0], [0.6, 600.0], [0.7, 600.0], [0.9, 5000.0]],
            tail: Some(Tail { alpha: 1.5, max: 1e6 }),
        }
    }

    #[test]
    fn cdf_and_quantile_invert_each_other() {
        let some = some();
        some.check("t", 0.0, 1e7).unwrap();
        for i in 0..1000 {
            let p = i as f64 / 1000.0;
            let x = some.quantile(p);
            // Within an atom the CDF is that of its end.
            assert!(some.cdf(x) >= p - 1e-9, "{p} {x}");
            assert!(some.cdf(x - 1e-6) <= p + 1e-6, "{p} {x}");
        }
        assert_eq!((some.cdf(-1.0), some.cdf(0.0), some.cdf(600.0), some.cdf(1e6)), (0.0, 0.2, 0.7, 1.0));
        assert_eq!([0.05, 0.2, 0.65, 1.0].map(|p| some.whole(p)), [0.0, 0.0, 600.0, 1e6]);
    }

    /// Half of the way in ln(1 + x) from 0 to 9 is the root of 10, less 1.
    #[test]
    fn between_points_it_is_log_uniform() {
        assert!((some().quantile(0.35) - (10f64.sqrt() - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn means_are_those_of_many_draws() {
        let some = some();
        let n = 1_000_000;
        let draws = |value: &dyn Fn(f64) -> f64| {
            (0..n).map(|i| value((i as f64 + 0.5) / n as f64)).sum::<f64>() / n as f64
        };
        let (mean, whole) = (draws(&|p| some.quantile(p)), draws(&|p| some.whole(p)));
        assert!((some.mean() / mean - 1.0).abs() < 1e-3, "{} {mean}", some.mean());
        assert!((some.whole_mean() / whole - 1.0).abs() < 1e-3, "{} {whole}", some.whole_mean());
        assert_eq!(Quantiles::constant(3.0).mean(), 3.0);
        assert!((Quantiles::constant(3.0).whole_mean() - 3.0).abs() < 1e-12);
        // All of it below what is summed up exactly.
        let short = Quantiles { points: vec![[0.9, 50.0]], tail: Some(Tail { alpha: 1.835, max: 517.0 }) };
        assert!((short.whole_mean() / short.mean() - 1.0).abs() < 0.01, "{}", short.whole_mean());
        // Small numbers, where rounding matters.
        let dice = Quantiles { points: (0..=6).map(|k| [k as f64 / 6.0, k as f64]).collect(), tail: None };
        assert!((dice.whole_mean() - 3.5).abs() < 1e-12, "{}", dice.whole_mean());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let says = |points: &[[f64; 2]], tail: Option<Tail>, expected: &str| {
            let quantiles = Quantiles { points: points.to_vec(), tail };
            let message = quantiles.check("s.toml, key k", 0.0, 1e6).unwrap_err().to_string();
            assert!(message.starts_with("s.toml, key k") && message.contains(expected), "{message}");
        };
        let tail = |alpha, max| Some(Tail { alpha, max });
        says(&[], None, "points: empty");
        says(&[[0.0, 1.0], [1.5, 2.0]], None, "found [1.5, 2]");
        says(&[[0.0, 1.0], [1.0, f64::NAN]], None, "found [1, NaN]");
        says(&[[0.0, 3.0], [1.0, 2.0]], None, "[1.0, 2.0] follows [0.0, 3.0]");
        says(&[[0.0, 1.0], [0.9, 2.0]], None, "ends at probability 0.9");
        says(&[[0.0, 1.0], [1.0, 2.0]], tail(1.0, 9.0), "nothing is left");
        says(&[[0.0, 1.0], [0.9, 2.0]], tail(0.0, 9.0), "tail.alpha: found 0");
        says(&[[0.0, 1.0], [0.9, 2.0]], tail(1.0, 2.0), "tail.max: found 2");
    }
}
