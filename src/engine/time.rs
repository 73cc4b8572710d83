use serde::{Serialize, Serializer};

/// Microseconds in a second.
pub const MICROS_PER_S: i64 = 1_000_000;

/// An instant or a span of simulated time, in whole microseconds.
///
/// Instants are on the clock of the trace (`submit_s`), and never negative in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(i64);

impl Time {
    pub const ZERO: Time = Time(0);
    pub const MAX: Time = Time(i64::MAX);
    /// The smallest step of time.
    pub const STEP: Time = Time(1);

    pub const fn from_micros(us: i64) -> Time {
        Time(us)
    }

    pub const fn from_whole_s(s: i64) -> Time {
        Time(s * MICROS_PER_S)
    }

    /// Rounds to the nearest microsecond. Saturates, and takes NaN as zero: callers check input.
    pub fn from_s(s: f64) -> Time {
        Time((s * MICROS_PER_S as f64).round() as i64)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    pub fn as_s(self) -> f64 {
        self.0 as f64 / MICROS_PER_S as f64
    }

    /// The number of whole seconds since the origin, rounded down.
    pub const fn whole_s(self) -> i64 {
        self.0.div_euclid(MICROS_PER_S)
    }

    /// The next whole second, never `self`.
    pub const fn next_whole_s(self) -> Time {
        Time::from_whole_s(self.whole_s() + 1)
    }

    /// The first point at or after `self` of the grid `0, step, 2 step, ...`; `self` when `step` is 0.
    pub fn ceil_to(self, step: Time) -> Time {
        if step.0 <= 0 {
            return self;
        }
        match self.0.rem_euclid(step.0) {
            0 => self,
            past => Time(self.0.saturating_add(step.0 - past)),
        }
    }
}

impl std::ops::Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl std::ops::Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0 / MICROS_PER_S, (self.0 % MICROS_PER_S).abs())
    }
}

/// Serialized as seconds.
impl Serialize for Time {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(self.as_s())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_keeps_its_phase() {
        let tick = Time::from_s(2.5);
        assert_eq!(Time::ZERO.ceil_to(tick), Time::ZERO);
        assert_eq!(Time::from_micros(1).ceil_to(tick), tick);
        assert_eq!(tick.ceil_to(tick), tick);
        assert_eq!(Time::from_s(1e6 + 0.1).ceil_to(tick), Time::from_s(1e6 + 2.5));
        assert_eq!(Time::from_s(3.3).ceil_to(Time::ZERO), Time::from_s(3.3));
    }

    #[test]
    fn seconds_round_trip() {
        assert_eq!(Time::from_s(42136.47).as_s(), 42136.47);
        assert_eq!(Time::from_s(1.999_999_6), Time::from_whole_s(2));
        assert_eq!(Time::from_s(2.999_999).whole_s(), 2);
        assert_eq!(Time::from_s(12.5).to_string(), "12.500000");
    }
}
