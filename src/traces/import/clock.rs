//! Instants from dates and numbers, in whole microseconds, whatever the zone of this machine.

use std::cell::Cell;

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::fmt::strtime;
use jiff::fmt::temporal::Pieces;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::code::Notice;
use crate::error::{Result, did_you_mean, input_error};
use crate::workload::MAX_SPAN_S;

/// An instant that a local time stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instant {
    Sure(i64),
    /// The hour that comes twice when daylight saving ends: the earlier and the later instant.
    Twice(i64, i64),
    /// The hour that is skipped when it begins: as if the clock had not been changed yet.
    Skipped(i64),
}

impl Instant {
    /// In microseconds; the earlier of two.
    pub fn us(self) -> i64 {
        match self {
            Instant::Sure(us) | Instant::Twice(us, _) | Instant::Skipped(us) => us,
        }
    }

    /// What is to be said of a local time.
    pub fn notice(self) -> Option<Notice> {
        match self {
            Instant::Sure(_) => None,
            Instant::Twice(..) => Some(Notice::Twice),
            Instant::Skipped(_) => Some(Notice::Skipped),
        }
    }

    /// The instant at or after another: of an hour that comes twice, the first that fits.
    pub fn us_after(self, start_us: i64) -> i64 {
        match self {
            Instant::Twice(early, late) if early < start_us => late,
            other => other.us(),
        }
    }
}

/// Reads dates without an offset as local times of a zone.
#[derive(Debug, Clone)]
pub struct Clock {
    zone: TimeZone,
    /// In place of ISO 8601, for `strptime`.
    date_format: Option<String>,
}

impl Clock {
    /// # Errors
    /// A zone that the IANA database lacks.
    pub fn new(zone: &str, date_format: Option<String>) -> Result<Clock> {
        let zone = TimeZone::get(zone).map_err(|_| {
            let known: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
            input_error!(
                "--timezone {zone}: not in the IANA time zone database; {}expected a name such as UTC, \
                 America/Los_Angeles or Asia/Shanghai",
                did_you_mean(zone, known.iter().map(String::as_str))
            )
        })?;
        if let Some(format) = &date_format {
            let example = Timestamp::UNIX_EPOCH.to_zoned_datetime(zone.clone());
            strtime::format(format, &example).map_err(|error| {
                input_error!("--date-format {format}: {error}; expected a format such as \"%d/%m/%Y %H:%M\"")
            })?;
        }
        Ok(Clock { zone, date_format })
    }

    /// The same zone, and dates in ISO 8601.
    pub(super) fn iso(&self) -> Clock {
        Clock { zone: self.zone.clone(), date_format: None }
    }

    pub(super) fn has_format(&self) -> bool {
        self.date_format.is_some()
    }

    /// A date with a time, such as `2020-06-09 18:41:01`, with `T` in the middle, a fraction, an offset or `Z` behind it
    /// if need be; a date alone is its midnight. `None` if it is none.
    pub(super) fn date(&self, text: &str) -> Option<Instant> {
        let (local, offset) = match &self.date_format {
            None => {
                let pieces = Pieces::parse(text).ok()?;
                // A zone's name alone does not tell an offset.
                if pieces.time_zone_annotation().is_some() && pieces.offset().is_none() {
                    return None;
                }
                let time = pieces.time().unwrap_or(Time::midnight());
                (DateTime::from_parts(pieces.date(), time), pieces.to_numeric_offset())
            }
            Some(format) => {
                let parts = strtime::parse(format, text).ok()?;
                (parts.to_datetime().ok()?, parts.offset())
            }
        };
        match offset {
            Some(offset) => Some(Instant::Sure(at(local, offset)?)),
            None => self.local(local),
        }
    }

    fn local(&self, local: DateTime) -> Option<Instant> {
        Some(match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => Instant::Sure(at(local, offset)?),
            AmbiguousOffset::Fold { before, after } => {
                let (first, second) = (at(local, before)?, at(local, after)?);
                Instant::Twice(first.min(second), first.max(second))
            }
            AmbiguousOffset::Gap { before, .. } => Instant::Skipped(at(local, before)?),
        })
    }

    pub(super) fn zone_name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// An instant as people of the zone write it.
    pub(super) fn show(&self, us: i64) -> String {
        match Timestamp::from_microsecond(us) {
            Ok(instant) => instant.to_zoned_datetime(self.zone.clone()).to_string(),
            Err(_) => format!("{} s", us as f64 / 1e6),
        }
    }
}

/// A clock that remembers days: a log has many times of each.
pub(super) struct Calendar {
    clock: Clock,
    days: [Cell<Day>; DAYS],
}

/// By the last digits of their day.
const DAYS: usize = 16;

/// A day of the form `2020-06-09`.
#[derive(Clone, Copy)]
struct Day {
    text: [u8; 10],
    /// Its first instant, if its clock is not changed; what is not known is left to [`Clock::date`].
    midnight_us: Option<i64>,
}

impl Calendar {
    pub fn new(clock: &Clock) -> Calendar {
        let none = || Cell::new(Day { text: [0; 10], midnight_us: None });
        Calendar { clock: clock.clone(), days: std::array::from_fn(|_| none()) }
    }

    pub fn has_format(&self) -> bool {
        self.clock.has_format()
    }

    /// As [`Clock::date`].
    pub fn date(&self, text: &str) -> Option<Instant> {
        self.of_known_day(text).or_else(|| self.clock.date(text))
    }

    fn of_known_day(&self, text: &str) -> Option<Instant> {
        let (day, time) = text.as_bytes().split_first_chunk::<10>()?;
        let &[b' ' | b'T', h1, h2, b':', m1, m2, b':', s1, s2] = time else { return None };
        let number = |tens: u8, ones: u8, most: i64| {
            let number = i64::from(tens) * 10 + i64::from(ones) - 11 * i64::from(b'0');
            (tens.is_ascii_digit() && ones.is_ascii_digit() && number <= most).then_some(number)
        };
        let second = number(h1, h2, 23)? * 3600 + number(m1, m2, 59)? * 60 + number(s1, s2, 59)?;
        let slot = &self.days[usize::from(day[8].wrapping_mul(10).wrapping_add(day[9])) % DAYS];
        let mut known = slot.get();
        if known.text != *day {
            known = Day { text: *day, midnight_us: self.midnight_us(&text[..10]) };
            slot.set(known);
        }
        Some(Instant::Sure(known.midnight_us? + second * 1_000_000))
    }

    /// Of a day whose first and last second have one offset.
    fn midnight_us(&self, day: &str) -> Option<i64> {
        if self.clock.date_format.is_some() {
            return None;
        }
        let at = |time: &str| match self.clock.date(&format!("{day} {time}")) {
            Some(Instant::Sure(us)) => Some(us),
            _ => None,
        };
        let (first_us, last_us) = (at("00:00:00")?, at("23:59:59")?);
        (last_us - first_us == 86_399_000_000).then_some(first_us)
    }
}

fn at(local: DateTime, offset: Offset) -> Option<i64> {
    offset.to_timestamp(local).ok().map(Timestamp::as_microsecond)
}

/// A number of units of `unit_s` seconds, to the microsecond; `None` if it is none, or beyond [`MAX_SPAN_S`].
pub(super) fn micros(text: &str, unit_s: f64) -> Option<i64> {
    let seconds = text.parse::<f64>().ok()? * unit_s;
    // NaN is in no range.
    (-MAX_SPAN_S..=MAX_SPAN_S).contains(&seconds).then(|| (seconds * 1e6).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_US: i64 = 3_600_000_000;

    #[test]
    fn dates_of_many_forms() {
        let clock = Clock::new("Asia/Shanghai", None).unwrap();
        let expected = clock.date("2020-06-09 18:41:01").unwrap();
        assert_eq!(expected, Instant::Sure(1_591_699_261_000_000));
        for same in [
            "2020-06-09T18:41:01",
            "2020-06-09 18:41:01+08:00",
            "2020-06-09T10:41:01Z",
            "2020-06-09 18:41:01.0",
        ] {
            assert_eq!(clock.date(same), Some(expected), "{same}");
        }
        for none in [
            "",
            "None",
            "2020-06-09 18:41:01[Asia/Tokyo]",
            "06/09/2020 18:41",
            "2020-06-31 00:00:00",
            "1591699261",
        ] {
            assert_eq!(clock.date(none), None, "{none}");
        }
        let us = Clock::new("UTC", Some("%d/%m/%Y %H:%M".to_owned())).unwrap();
        assert_eq!(us.date("09/06/2020 18:41"), Some(Instant::Sure(1_591_728_060_000_000)));
        assert_eq!(
            Clock::new("UTC", None).unwrap().date("1969-12-31 23:59:59"),
            Some(Instant::Sure(-1_000_000))
        );
    }

    #[test]
    fn the_nights_when_clocks_change() {
        let clock = Clock::new("America/Los_Angeles", None).unwrap();
        let before = clock.date("2017-11-05 00:10:00").unwrap().us();
        let twice = clock.date("2017-11-05 01:10:00").unwrap();
        assert_eq!(twice, Instant::Twice(before + HOUR_US, before + 2 * HOUR_US));
        assert_eq!(twice.us_after(before + HOUR_US), before + HOUR_US);
        assert_eq!(twice.us_after(before + HOUR_US + 1), before + 2 * HOUR_US);
        let skipped = clock.date("2018-03-11 02:30:00").unwrap();
        assert_eq!(skipped, Instant::Skipped(clock.date("2018-03-11 01:30:00").unwrap().us() + HOUR_US));
    }

    #[test]
    fn a_calendar_tells_what_the_clock_tells() {
        for zone in ["America/Los_Angeles", "Asia/Shanghai", "UTC"] {
            let clock = Clock::new(zone, None).unwrap();
            let calendar = Calendar::new(&clock);
            for day in [
                "2017-11-04",
                "2017-11-05",
                "2017-11-20",
                "2018-03-11",
                "2017-02-29",
                "17-02-29xx",
                "\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}",
            ] {
                for time in [
                    " 00:00:00",
                    " 01:30:00",
                    "T02:30:00",
                    " 23:59:59",
                    " 24:00:00",
                    " 1:30:00",
                    " 01:30:00Z",
                    " 01:3x:00",
                    "",
                ] {
                    let text = format!("{day}{time}");
                    assert_eq!(calendar.date(&text), clock.date(&text), "{zone} {text}");
                }
            }
        }
        let formatted = Clock::new("UTC", Some("%Y-%d-%m %H:%M:%S".to_owned())).unwrap();
        assert_eq!(
            Calendar::new(&formatted).date("2017-09-06 00:00:00"),
            formatted.date("2017-09-06 00:00:00")
        );
    }

    #[test]
    fn a_wrong_zone_is_told_what_it_may_be() {
        let message = Clock::new("America/Los_Angles", None).unwrap_err().to_string();
        assert!(message.contains("did you mean America/Los_Angeles"), "{message}");
    }

    #[test]
    fn numbers_have_units() {
        assert_eq!(micros("5835000000", 1e-6), Some(5_835_000_000));
        assert_eq!(micros("-1.5", 60.0), Some(-90_000_000));
        assert_eq!([micros("1e12", 1.0), micros("NaN", 1.0), micros("", 1.0)], [None; 3]);
    }
}
