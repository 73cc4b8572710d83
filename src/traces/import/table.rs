//! Logs that are tables, read by their layout.

use std::borrow::Cow;

use csv::ByteRecord;

use super::clock::{Calendar, Instant, micros};
use super::code::{Notice, Reason};
use super::job::{Demand, Found, Problem, SourceJob, clean_name, is_blank, optional_name, state};
use super::layout::{Key, Layout, Unit};
use crate::error::{Result, did_you_mean, input_error};

/// Reads rows of a table by a layout; columns are found by their names in the header.
pub(super) struct TableReader {
    layouts: Vec<Layout>,
    /// The layout that fits the file, and the place of each of its keys in a row.
    layout: usize,
    places: [Option<Place>; Key::COUNT],
    fields: usize,
    /// Whether times of [`Unit::Auto`] are dates: as the first one was.
    dates: [Option<bool>; Key::COUNT],
    /// Rows of all files, which are the ids of jobs that have none.
    rows: u64,
}

#[derive(Debug, Clone)]
struct Place {
    index: usize,
    name: String,
    unit: Unit,
}

impl Place {
    /// With what stands there.
    fn problem(&self, reason: Reason, found: &str) -> Problem {
        Problem::field(reason, &format!("column {}", self.name), found)
    }
}

impl TableReader {
    /// With the layouts that files may have; the first whose required columns are all there is taken.
    pub fn new(layouts: Vec<Layout>) -> TableReader {
        TableReader {
            layouts,
            layout: 0,
            places: [const { None }; Key::COUNT],
            fields: 0,
            dates: [None; Key::COUNT],
            rows: 0,
        }
    }

    pub fn has(&self, key: Key) -> bool {
        self.layouts.iter().any(|layout| layout.has(key))
    }

    /// Whether jobs may have shares of GPUs.
    pub fn has_shares(&self) -> bool {
        self.layouts.iter().any(|layout| !layout.whole_gpus)
    }

    /// Whether the submissions that were read are dates.
    pub fn has_dates(&self) -> bool {
        self.dates[Key::Submit as usize] == Some(true)
    }

    /// # Errors
    /// A required column that the header lacks, or one that comes twice.
    pub fn header(&mut self, file: &str, line: u64, header: &ByteRecord) -> Result<()> {
        let names: Vec<Cow<'_, str>> =
            header.iter().map(|name| String::from_utf8_lossy(name.trim_ascii())).collect();
        let missing = |layout: &Layout| -> Option<String> {
            let required = layout.columns.iter().filter(|column| column.is_required);
            required.map(|column| column.name.clone()).find(|name| !names.iter().any(|found| found == name))
        };
        let Some(layout) = self.layouts.iter().position(|layout| missing(layout).is_none()) else {
            let name = missing(&self.layouts[0]).unwrap_or_default();
            let hint = match did_you_mean(&name, names.iter().map(AsRef::as_ref)) {
                _ if names.len() == 1 && names[0].contains([';', '\t', '|']) => {
                    "fields are to be separated by commas, or give --delimiter; ".to_owned()
                }
                hint => hint,
            };
            return Err(input_error!(
                "{file}, line {line}: the column {name} is missing; {hint}found {}; choose another --format, or name the \
                 columns with --format csv --map",
                names.join(",")
            ));
        };
        self.layout = layout;
        self.fields = header.len();
        self.places = [const { None }; Key::COUNT];
        for column in &self.layouts[layout].columns {
            let mut at = names.iter().enumerate().filter(|(_, name)| **name == column.name);
            let Some((index, _)) = at.next() else { continue };
            if at.next().is_some() {
                return Err(input_error!(
                    "{file}, line {line}: the column {} comes twice; remove or rename one",
                    column.name
                ));
            }
            self.places[column.key as usize] =
                Some(Place { index, name: column.name.clone(), unit: column.unit });
        }
        Ok(())
    }

    /// # Errors
    /// Why the row is no job.
    pub fn read<'r>(&mut self, calendar: &Calendar, row: &'r ByteRecord) -> Result<Found<'r>, Problem> {
        self.rows += 1;
        if row.len() != self.fields {
            let detail = format!("{} fields, where the header has {}", row.len(), self.fields);
            return Err(Problem { reason: Reason::Malformed, detail: Some(detail) });
        }
        let mut notices = Vec::new();
        let id = match self.place(Key::JobId) {
            Some(place) => id(row, place, &mut notices).ok_or(Reason::NoId)?,
            None => Cow::Owned(self.rows.to_string()),
        };
        let demand = self.demand(row)?;
        let mut optional = |key| self.place(key).and_then(|place| name(row, place, &mut notices));
        let (user, vc) = (optional(Key::User), optional(Key::Vc));
        let workload = optional(Key::Workload).unwrap_or_default();
        let found_state = optional(Key::State);
        let state = match found_state {
            Some(Cow::Borrowed(text)) => Some(state(text)),
            Some(Cow::Owned(text)) => {
                let (known, has_ended) = state(&text);
                Some((Cow::Owned(known.into_owned()), has_ended))
            }
            None => None,
        };
        if let Some((_, false)) = state
            && !self.layouts[self.layout].any_state
        {
            let found = state.map(|(state, _)| state).unwrap_or_default();
            return Err(self.problem(Key::State, Reason::NotFinal, &found));
        }
        let submit = self.time(calendar, row, Key::Submit)?.ok_or(Reason::NoSubmit)?;
        let (duration_us, start) = self.duration(calendar, row, submit, &mut notices)?;
        for instant in [Some(submit), start].into_iter().flatten() {
            notices.extend(instant.notice());
        }
        Ok(Found {
            job: SourceJob {
                id,
                submit_us: submit.us(),
                duration_us,
                demand,
                workload,
                user,
                vc,
                state: state.map(|(state, _)| state),
            },
            notices,
        })
    }

    fn place(&self, key: Key) -> Option<&Place> {
        self.places[key as usize].as_ref()
    }

    fn problem(&self, key: Key, reason: Reason, found: &str) -> Problem {
        self.place(key).map_or(reason.into(), |place| place.problem(reason, found))
    }

    fn demand(&self, row: &ByteRecord) -> Result<Demand, Problem> {
        let count = |key| match self.place(key) {
            Some(place) => number(row, place),
            None => Ok(None),
        };
        let (gpus, instances) = (count(Key::Gpus)?.unwrap_or(0.0), count(Key::Instances)?.unwrap_or(1.0));
        let bad = |key: Key| {
            let found = self.place(key).and_then(|place| text(row, place));
            self.problem(key, Reason::BadNumber, found.unwrap_or_default())
        };
        let layout = &self.layouts[self.layout];
        if instances.fract() != 0.0 {
            return Err(bad(Key::Instances));
        }
        if layout.whole_gpus && gpus.fract() != 0.0 {
            return Err(bad(Key::Gpus));
        }
        let each = if layout.gpus_are_totals { gpus / instances.max(1.0) } else { gpus };
        let demand = Demand::of(each, instances).map_err(|reason| match reason {
            Reason::TooManyGpus => Problem { reason, detail: Some(format!("{} GPUs", each * instances)) },
            reason => reason.into(),
        })?;
        let Some(place) = self.place(Key::GpuShare) else { return Ok(demand) };
        match number(row, place)? {
            None => Ok(demand),
            Some(share) if share > 1.0 => Err(bad(Key::GpuShare)),
            Some(share) => Ok(demand.with_share(share)?),
        }
    }

    /// From the duration's own column, or else from start and end; and the start.
    fn duration(
        &mut self,
        calendar: &Calendar,
        row: &ByteRecord,
        submit: Instant,
        notices: &mut Vec<Notice>,
    ) -> Result<(Option<i64>, Option<Instant>), Problem> {
        let has_times = self.place(Key::Start).is_some() && self.place(Key::End).is_some();
        let given_us = match self.place(Key::Duration) {
            Some(place) => match text(row, place) {
                Some(text) => Some(span(text, place)?),
                None => None,
            },
            None if !has_times => return Ok((None, None)),
            None => None,
        };
        let (start, end) = (self.time(calendar, row, Key::Start)?, self.time(calendar, row, Key::End)?);
        let start_us = start.map(|start| start.us_after(submit.us()));
        let lasted_us = match (start_us, end) {
            (Some(start_us), Some(end)) => {
                notices.extend(end.notice());
                Some(end.us_after(start_us) - start_us)
            }
            _ => None,
        };
        if lasted_us.is_some_and(|us| us < 0) {
            return Err(Reason::EndBeforeStart.into());
        }
        if start_us.is_some_and(|us| us < submit.us()) {
            notices.push(Notice::StartBeforeSubmit);
        }
        if let (Some(given), Some(lasted)) = (given_us, lasted_us)
            && (given - lasted).abs() > 1_000_000
        {
            notices.push(Notice::DurationDisagrees);
        }
        let without =
            if self.place(Key::Start).is_some() && start.is_none() { Reason::NoStart } else { Reason::NoEnd };
        match given_us.or(lasted_us) {
            // Given up before it started.
            Some(0) if without == Reason::NoStart && end.is_none() => Err(without.into()),
            Some(us) if us > 0 => Ok((Some(us), start)),
            Some(0) => Err(Reason::ZeroDuration.into()),
            Some(_) => Err(Reason::NegativeDuration.into()),
            // A job that runs as long as its workload.
            None if !has_times && self.place(Key::Workload).is_some() => Ok((None, start)),
            None => Err(without.into()),
        }
    }

    fn time(&mut self, calendar: &Calendar, row: &ByteRecord, key: Key) -> Result<Option<Instant>, Problem> {
        let Some(place) = &self.places[key as usize] else { return Ok(None) };
        let Some(text) = text(row, place) else { return Ok(None) };
        let number = |unit_s| micros(text, unit_s).map(Instant::Sure);
        let (instant, is_date) = match place.unit {
            Unit::Times(unit_s) => (number(unit_s), false),
            Unit::Date => (calendar.date(text), true),
            Unit::Auto if calendar.has_format() => (calendar.date(text), true),
            Unit::Auto | Unit::Plain => match (number(1.0), self.dates[key as usize]) {
                (Some(instant), None | Some(false)) => (Some(instant), false),
                (None, None | Some(true)) => (calendar.date(text), true),
                // One that is written otherwise than the first.
                (_, Some(is_date)) => (None, is_date),
            },
        };
        let Some(instant) = instant else {
            let reason = if is_date { Reason::BadDate } else { Reason::BadNumber };
            return Err(place.problem(reason, text));
        };
        self.dates[key as usize] = Some(is_date);
        Ok(Some(instant))
    }
}

/// The field, unless it is blank. What is not UTF-8 is no number and no date.
fn text<'r>(row: &'r ByteRecord, place: &Place) -> Option<&'r str> {
    let field = row.get(place.index)?.trim_ascii();
    let text = std::str::from_utf8(field).unwrap_or("\u{fffd}");
    (!is_blank(text)).then_some(text)
}

/// A field that is a job's id: whatever it is, but not blank.
fn id<'r>(row: &'r ByteRecord, place: &Place, notices: &mut Vec<Notice>) -> Option<Cow<'r, str>> {
    let text = String::from_utf8_lossy(row.get(place.index)?.trim_ascii());
    (!text.is_empty()).then_some(text).and_then(|text| clean_name(text, notices))
}

/// A field that names something.
fn name<'r>(row: &'r ByteRecord, place: &Place, notices: &mut Vec<Notice>) -> Option<Cow<'r, str>> {
    optional_name(String::from_utf8_lossy(row.get(place.index)?.trim_ascii()), notices)
}

fn number(row: &ByteRecord, place: &Place) -> Result<Option<f64>, Problem> {
    let Some(text) = text(row, place) else { return Ok(None) };
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(Some(value * place.unit.factor())),
        _ => Err(place.problem(Reason::BadNumber, text)),
    }
}

fn span(text: &str, place: &Place) -> Result<i64, Problem> {
    micros(text, place.unit.factor()).ok_or_else(|| place.problem(Reason::BadNumber, text))
}
