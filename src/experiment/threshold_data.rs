//! The measured threshold study, as read from CSV.

use crate::error::{Result, did_you_mean, input_error};
use crate::workload::{MAX_SPAN_S, Row, Table};

/// Thresholds of the pressure filter, and what was measured under them.
#[derive(Debug, Clone, PartialEq)]
pub struct StudySetting {
    /// Of SMACT, SMOCC and DRAMA risk.
    pub thresholds: [f64; 3],
    pub measured: StudyFigures,
}

/// Figures of a setting, over all sequences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudyFigures {
    /// Solo runtimes of a sequence over its wall time, mean over the sequences.
    pub throughput_gain: f64,
    /// Mean over the sequences of the mean over their jobs.
    pub slowdown_mean: f64,
    /// Of the worst job of all sequences.
    pub slowdown_worst: f64,
    /// Refused looks at the gate, summed over the sequences.
    pub deferrals: f64,
}

/// Jobs that were let onto one GPU in this order.
#[derive(Debug, Clone, PartialEq)]
pub struct StudySequence {
    pub name: String,
    pub jobs: Vec<StudyJob>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StudyJob {
    pub workload: String,
    /// Whether the run was cut short, and did not last for all of the workload.
    pub cut: bool,
    /// Runtime alone, as the study counts it.
    pub solo_runtime_s: f64,
    /// Where it stands in its file.
    pub line: u64,
}

/// A study: settings, and the sequences that each of them ran.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyData {
    pub settings: Vec<StudySetting>,
    pub sequences: Vec<StudySequence>,
    /// The file of the settings, as it was given.
    pub settings_source: String,
    /// The file of the sequences.
    pub jobs_source: String,
}

const SETTINGS: (&str, &[u8]) = (
    "experiments/measured/threshold_settings.csv",
    include_bytes!("../../experiments/measured/threshold_settings.csv"),
);
const JOBS: (&str, &[u8]) = (
    "experiments/measured/threshold_jobs.csv",
    include_bytes!("../../experiments/measured/threshold_jobs.csv"),
);

const THRESHOLDS: [&str; 3] = ["smact_threshold", "smocc_threshold", "drama_threshold"];
const SETTING_COLUMNS: &[&str] = &[
    "smact_threshold",
    "smocc_threshold",
    "drama_threshold",
    "throughput_gain_mean",
    "slowdown_mean",
    "slowdown_worst",
    "deferrals",
];
const JOB_COLUMNS: &[&str] = &["sequence", "position", "workload", "solo_runtime_s"];

impl StudyData {
    /// The study that ships with the simulator: 122 settings, five sequences.
    pub fn builtin() -> StudyData {
        Self::parse(SETTINGS, JOBS).expect("the built-in study parses: a test sees to it")
    }

    /// Parses a study from two files, each given as its name for messages and its bytes.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) with file, line and column for anything that cannot be used.
    pub fn parse(settings: (&str, &[u8]), jobs: (&str, &[u8])) -> Result<StudyData> {
        let (source, bytes) = settings;
        let table = Table::parse(source, bytes, SETTING_COLUMNS)?;
        let mut settings: Vec<StudySetting> = Vec::with_capacity(table.len());
        for row in table.rows() {
            let setting = setting(row)?;
            if settings.iter().any(|other| other.thresholds == setting.thresholds) {
                let [smact, smocc, drama] = setting.thresholds;
                return Err(input_error!(
                    "{}: the thresholds {smact}, {smocc} and {drama} come twice; keep one line per setting",
                    row.place(THRESHOLDS[0])
                ));
            }
            settings.push(setting);
        }
        if settings.len() < 2 {
            return Err(input_error!(
                "{source}: found {} setting(s); expected two at least, as what fits one half of them is tested on the \
                 other; add one line per setting",
                settings.len()
            ));
        }
        let sequences = sequences(jobs.0, jobs.1)?;
        Ok(StudyData {
            settings,
            sequences,
            settings_source: source.to_owned(),
            jobs_source: jobs.0.to_owned(),
        })
    }
}

fn setting(row: Row<'_>) -> Result<StudySetting> {
    let mut thresholds = [0.0; 3];
    for (threshold, column) in thresholds.iter_mut().zip(THRESHOLDS) {
        *threshold = row.required_number(column, 0.0..=1.0)?;
    }
    let slowdown = |column: &str| row.required_number(column, 0.1..=1000.0);
    Ok(StudySetting {
        thresholds,
        measured: StudyFigures {
            throughput_gain: row.required_number("throughput_gain_mean", 0.01..=1000.0)?,
            slowdown_mean: slowdown("slowdown_mean")?,
            slowdown_worst: slowdown("slowdown_worst")?,
            deferrals: row.required_number("deferrals", 0.0..=1e9)?,
        },
    })
}

fn sequences(source: &str, bytes: &[u8]) -> Result<Vec<StudySequence>> {
    let table = Table::parse(source, bytes, JOB_COLUMNS)?;
    let mut sequences: Vec<StudySequence> = Vec::new();
    for row in table.rows() {
        let name = row.required_text("sequence")?;
        let position = row.required_integer("position", 1..=1000)? as usize;
        let job = StudyJob {
            workload: row.required_text("workload")?.to_owned(),
            cut: row.text("variant").is_some(),
            solo_runtime_s: row.required_number("solo_runtime_s", 0.001..=MAX_SPAN_S)?,
            line: row.line(),
        };
        let known = match sequences.iter().position(|sequence| sequence.name == name) {
            Some(known) => known,
            None => {
                sequences.push(StudySequence { name: name.to_owned(), jobs: Vec::new() });
                sequences.len() - 1
            }
        };
        let jobs = &mut sequences[known].jobs;
        if position != jobs.len() + 1 {
            let near =
                did_you_mean(name, sequences.iter().map(|other| other.name.as_str()).filter(|&n| n != name));
            return Err(input_error!(
                "{}: found {position}; expected {} for the next job of {name}, as a sequence lists its jobs in \
                 the order of their start; {near}renumber or reorder the lines",
                row.place("position"),
                sequences[known].jobs.len() + 1
            ));
        }
        jobs.push(job);
    }
    if sequences.is_empty() {
        return Err(input_error!("{source} has a header but no job; add one line per job of a sequence"));
    }
    Ok(sequences)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "smact_threshold,smocc_threshold,drama_threshold,throughput_gain_mean,slowdown_mean,\
                        slowdown_worst,deferrals\n";
    const JOB_HEAD: &str = "sequence,position,workload,variant,solo_runtime_s\n";

    #[test]
    fn the_builtin_study_is_whole() {
        let study = StudyData::builtin();
        assert_eq!((study.settings.len(), study.sequences.len()), (122, 5));
        assert_eq!(study.sequences.iter().map(|sequence| sequence.jobs.len()).sum::<usize>(), 22);
    }

    #[test]
    fn mistakes_are_named() {
        let (setting, job) = ("0.5,0.2,0.4,1.7,1,1.1,3\n", "a,1,unet_voc_1gpu,,9\n");
        let two = format!("{setting}0.6,0.2,0.4,1.7,1,1.1,3\n");
        for (settings, jobs, says) in [
            ("1.5,0,0,1,1,1,0\n", job, "s.csv, line 2, column smact_threshold: found 1.5"),
            (
                "0.5,0.2,0.4,1,1,1,0\n0.5,0.2,0.4,2,1,1,0\n",
                job,
                "s.csv, line 3, column smact_threshold: the thresholds",
            ),
            ("0.5,0.2,0.4,1,1,,0\n", job, "s.csv, line 2, column slowdown_worst: blank"),
            ("", job, "s.csv: found 0 setting(s); expected two at least"),
            (setting, job, "s.csv: found 1 setting(s); expected two at least"),
            (&two, "a,2,unet_voc_1gpu,,9\n", "j.csv, line 2, column position: found 2; expected 1"),
            (&two, "a,1,unet_voc_1gpu,,0\n", "j.csv, line 2, column solo_runtime_s: found 0"),
            (&two, "", "j.csv has a header but no job"),
        ] {
            let (settings, jobs) = (format!("{HEAD}{settings}"), format!("{JOB_HEAD}{jobs}"));
            let study = StudyData::parse(("s.csv", settings.as_bytes()), ("j.csv", jobs.as_bytes()));
            let message = study.unwrap_err().to_string();
            assert!(message.starts_with(says), "{message}");
        }
    }
}
