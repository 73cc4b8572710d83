//! Which column of a table holds what, in which unit.

use crate::error::{Result, did_you_mean, input_error};

/// What a column can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub(super) enum Key {
    JobId,
    Submit,
    Start,
    End,
    Duration,
    Gpus,
    Instances,
    GpuShare,
    Workload,
    User,
    Vc,
    State,
}

impl Key {
    pub const COUNT: usize = KEYS.len();
}

const KEYS: [(&str, Key); 12] = [
    ("job_id", Key::JobId),
    ("submit_s", Key::Submit),
    ("start_s", Key::Start),
    ("end_s", Key::End),
    ("duration_s", Key::Duration),
    ("gpus", Key::Gpus),
    ("instances", Key::Instances),
    ("gpu_share", Key::GpuShare),
    ("workload", Key::Workload),
    ("user", Key::User),
    ("vc", Key::Vc),
    ("state", Key::State),
];

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unit {
    /// Text, or a plain number.
    Plain,
    /// A number of this many: seconds, or whole GPUs.
    Times(f64),
    Date,
    /// Seconds or dates, whichever the first value is.
    Auto,
}

impl Unit {
    /// What a number is to be multiplied by.
    pub fn factor(self) -> f64 {
        if let Unit::Times(factor) = self { factor } else { 1.0 }
    }
}

const TIME_UNITS: [(&str, Unit); 8] = [
    ("s", Unit::Times(1.0)),
    ("ms", Unit::Times(1e-3)),
    ("us", Unit::Times(1e-6)),
    ("ns", Unit::Times(1e-9)),
    ("min", Unit::Times(60.0)),
    ("h", Unit::Times(3600.0)),
    ("d", Unit::Times(86_400.0)),
    ("date", Unit::Date),
];
const SHARE_UNITS: [(&str, Unit); 2] = [("milli", Unit::Times(1e-3)), ("percent", Unit::Times(1e-2))];

/// A column of the log.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub key: Key,
    pub name: String,
    pub unit: Unit,
    pub is_required: bool,
}

/// The columns of a kind of log.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    pub columns: Vec<Column>,
    /// The GPUs of a row are those of all its instances together, not of each.
    pub gpus_are_totals: bool,
    /// There are no shares of GPUs.
    pub whole_gpus: bool,
    /// Jobs that have not ended are told by a missing time, not by their state.
    pub any_state: bool,
}

impl Layout {
    /// `KEY=COLUMN` or `KEY=COLUMN:UNIT` each; without any, the columns of the simulator's own traces.
    pub fn parse(assignments: &[String]) -> Result<Layout> {
        if assignments.is_empty() {
            let is_own = |key| !matches!(key, Key::Start | Key::End | Key::Instances);
            let columns = KEYS.iter().filter(|(_, key)| is_own(*key)).map(|&(name, key)| Column {
                key,
                name: name.to_owned(),
                unit: default_unit(key),
                is_required: matches!(key, Key::JobId | Key::Submit | Key::Gpus),
            });
            return Ok(Layout { columns: columns.collect(), ..Layout::default() });
        }
        let mut columns: Vec<Column> = Vec::new();
        for assignment in assignments {
            let column = parse_column(assignment)?;
            if columns.iter().any(|before| before.key == column.key) {
                return Err(input_error!("--map {assignment}: its key is mapped already; remove one"));
            }
            columns.push(column);
        }
        let has = |key| columns.iter().any(|column| column.key == key);
        if !has(Key::Submit) || !has(Key::Gpus) {
            return Err(input_error!(
                "--map: submit_s and gpus are needed at least; add, for example, --map submit_s=COLUMN --map gpus=COLUMN"
            ));
        }
        if !(has(Key::Duration) || has(Key::Workload) || has(Key::Start) && has(Key::End)) {
            return Err(input_error!(
                "--map: how long jobs run is needed: duration_s, or start_s and end_s, or the workload; add --map \
                 duration_s=COLUMN"
            ));
        }
        Ok(Layout { columns, ..Layout::default() })
    }

    /// And a column.
    pub fn with(mut self, key: Key, name: &str, unit: Unit, is_required: bool) -> Layout {
        self.columns.push(Column { key, name: name.to_owned(), unit, is_required });
        self
    }

    pub fn has(&self, key: Key) -> bool {
        self.columns.iter().any(|column| column.key == key)
    }
}

fn default_unit(key: Key) -> Unit {
    match key {
        Key::Submit | Key::Start | Key::End => Unit::Auto,
        Key::Duration | Key::GpuShare => Unit::Times(1.0),
        _ => Unit::Plain,
    }
}

fn parse_column(assignment: &str) -> Result<Column> {
    let names = || KEYS.iter().map(|(name, _)| *name);
    let Some((key_name, rest)) = assignment.split_once('=') else {
        return Err(input_error!("--map {assignment}: expected KEY=COLUMN or KEY=COLUMN:UNIT"));
    };
    let Some(&(_, key)) = KEYS.iter().find(|(name, _)| *name == key_name) else {
        return Err(input_error!(
            "--map {assignment}: unknown key {key_name:?}: {}keys are {}",
            did_you_mean(key_name, names()),
            names().collect::<Vec<_>>().join(", ")
        ));
    };
    let units: &[(&str, Unit)] = match key {
        Key::Submit | Key::Start | Key::End | Key::Duration => &TIME_UNITS,
        Key::GpuShare => &SHARE_UNITS,
        _ => &[],
    };
    let known = |unit: &str| units.iter().find(|(name, _)| *name == unit).map(|(_, unit)| *unit);
    // A column's own name may have a colon in it.
    let (name, unit) = match rest.rsplit_once(':') {
        Some((name, unit)) if known(unit).is_some() => (name, known(unit)),
        Some((_, unit)) if !units.is_empty() && unit.len() <= 16 && !unit.contains(' ') => {
            return Err(input_error!(
                "--map {assignment}: unknown unit {unit:?} of {key_name}; expected one of {}",
                units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
            ));
        }
        _ => (rest, None),
    };
    if name.is_empty() {
        return Err(input_error!("--map {assignment}: the column's name is missing"));
    }
    if key == Key::Duration && unit == Some(Unit::Date) {
        return Err(input_error!(
            "--map {assignment}: a duration is no date; map start_s and end_s to dates instead"
        ));
    }
    Ok(Column { key, name: name.to_owned(), unit: unit.unwrap_or(default_unit(key)), is_required: true })
}
