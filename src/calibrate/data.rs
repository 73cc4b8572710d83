//! Measurements that constants are fitted to, as read from CSV.

use crate::error::{Result, did_you_mean, input_error};
use crate::workload::{Catalogue, MAX_SPAN_S, Row, Table, Trace};

/// Two jobs started together on one GPU. Workloads are indices into the catalogue.
#[derive(Debug, Clone)]
pub struct Pair {
    pub workloads: [usize; 2],
    /// Runtimes alone.
    pub solo_s: [f64; 2],
    /// Runtimes together, each from the common start to its own end.
    pub pair_s: [f64; 2],
    /// From the common start until both jobs use the GPU.
    pub startup_s: f64,
    /// Closing phases alone.
    pub closing_s: [f64; 2],
}

const PAIR_COLUMNS: &[&str] = &["workload_a", "workload_b", "solo_a_s", "solo_b_s", "pair_a_s", "pair_b_s"];

/// Reads pair measurements.
///
/// # Errors
/// Unknown workloads, bad numbers, and pairs whose jobs did not compute together.
pub fn read_pairs(source: &str, bytes: &[u8], catalogue: &Catalogue) -> Result<Vec<Pair>> {
    let table = Table::parse(source, bytes, PAIR_COLUMNS)?;
    if table.len() == 0 {
        return Err(input_error!("{source} has a header but no pair; add one line per pair"));
    }
    table.rows().map(|row| pair(row, catalogue)).collect()
}

fn pair(row: Row<'_>, catalogue: &Catalogue) -> Result<Pair> {
    let workloads = [profile_of(row, "workload_a", catalogue)?, profile_of(row, "workload_b", catalogue)?];
    let startup = |index: usize| catalogue.workloads()[index].startup_s;
    let pair = Pair {
        workloads,
        solo_s: [seconds(row, "solo_a_s")?, seconds(row, "solo_b_s")?],
        pair_s: [seconds(row, "pair_a_s")?, seconds(row, "pair_b_s")?],
        startup_s: startup(workloads[0]).max(startup(workloads[1])),
        closing_s: workloads.map(|index| catalogue.workloads()[index].profile(0).closing_s),
    };
    for (side, column) in ["solo_a_s", "solo_b_s"].into_iter().enumerate() {
        let active_s = pair.solo_s[side] - startup(workloads[side]);
        if pair.closing_s[side] > 0.0 && pair.closing_s[side] >= active_s {
            return Err(input_error!(
                "{}: found {} s, of which {} s are start-up and closing phase (closing_s of the catalogue); expected a run \
                 that trains; correct either file, or remove the line",
                row.place(column),
                pair.solo_s[side],
                startup(workloads[side]) + pair.closing_s[side]
            ));
        }
    }
    for (rate, column) in pair.contended_rates().into_iter().zip(["pair_a_s", "pair_b_s"]) {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(input_error!(
                "{}: with {} s of start-up and the time alone at the end taken out of solo and pair runtimes, \
                 nothing is left of the time together; check the four runtimes, or remove the line",
                row.place(column),
                pair.startup_s
            ));
        }
    }
    Ok(pair)
}

impl Pair {
    /// Rates, as fractions of the rate alone, while both jobs compute.
    ///
    /// Before the slower starter reaches the GPU and after the first job ends, the other one has the GPU to
    /// itself; it counts with its full rate there.
    pub fn contended_rates(&self) -> [f64; 2] {
        let first_end = self.pair_s[0].min(self.pair_s[1]);
        let together = first_end - self.startup_s;
        [0, 1].map(|i| {
            let alone = self.startup_s + (self.pair_s[i] - first_end);
            if together > 0.0 { (self.solo_s[i] - alone) / together } else { f64::NAN }
        })
    }

    /// Shares of the time together in which each job is in its closing phase.
    ///
    /// Time alone at the end is that of the closing phase first; what is left of it takes as long as the contended
    /// rate says.
    pub fn closing_shares(&self) -> [f64; 2] {
        let first_end = self.pair_s[0].min(self.pair_s[1]);
        let rates = self.contended_rates();
        [0, 1].map(|i| {
            let shared_s = (self.closing_s[i] - (self.pair_s[i] - first_end)).max(0.0);
            (shared_s / rates[i] / (first_end - self.startup_s)).min(1.0)
        })
    }

    /// Solo over pair runtime, as such measurements are published.
    pub fn speeds(&self) -> [f64; 2] {
        [0, 1].map(|i| self.solo_s[i] / self.pair_s[i])
    }

    /// The speeds that contended rates lead to.
    pub fn simulate(&self, rates: [f64; 2]) -> [f64; 2] {
        let work = self.solo_s.map(|solo| solo - self.startup_s);
        let ends = [0, 1].map(|i| work[i] / rates[i]);
        let first_end = ends[0].min(ends[1]);
        [0, 1].map(|i| {
            let rest = if ends[i] > first_end { work[i] - first_end * rates[i] } else { 0.0 };
            self.solo_s[i] / (self.startup_s + first_end + rest)
        })
    }
}

/// A run of two or more jobs on one GPU of which only aggregates are known.
#[derive(Debug, Clone)]
pub struct Crowd {
    pub case: String,
    pub staggered: bool,
    /// In the order of their start: catalogue index and runtime alone.
    pub jobs: Vec<(usize, f64)>,
    pub mean_slowdown: f64,
    pub max_slowdown: f64,
    /// Mean slowdown of the same jobs run one after the other: how far the solo runtimes are off.
    pub serial_slowdown: f64,
}

const CROWD_COLUMNS: &[&str] = &["case", "start_mode", "workload", "solo_s", "mean_slowdown", "max_slowdown"];

/// Reads runs of several jobs, one line per job in the order of their start.
pub fn read_crowds(source: &str, bytes: &[u8], catalogue: &Catalogue) -> Result<Vec<Crowd>> {
    let table = Table::parse(source, bytes, CROWD_COLUMNS)?;
    let mut crowds: Vec<Crowd> = Vec::new();
    for row in table.rows() {
        let case = row.required_text("case")?;
        let staggered = match row.required_text("start_mode")? {
            "staggered" => true,
            "simultaneous" => false,
            other => {
                return Err(input_error!(
                    "{}: found {other:?}; expected staggered or simultaneous",
                    row.place("start_mode")
                ));
            }
        };
        let job = (profile_of(row, "workload", catalogue)?, seconds(row, "solo_s")?);
        let slowdown = |column: &str| row.required_number(column, 0.1..=1000.0);
        let crowd = Crowd {
            case: case.to_owned(),
            staggered,
            jobs: vec![job],
            mean_slowdown: slowdown("mean_slowdown")?,
            max_slowdown: slowdown("max_slowdown")?,
            serial_slowdown: row.number("serial_slowdown", 0.1..=10.0)?.unwrap_or(1.0),
        };
        match crowds.iter_mut().find(|known| known.case == case) {
            Some(known) => known.jobs.push(job),
            None => crowds.push(crowd),
        }
    }
    if crowds.is_empty() {
        return Err(input_error!("{source} has a header but no job; add one line per job of a run"));
    }
    Ok(crowds)
}

/// One attempt of a job in a recorded run.
#[derive(Debug, Clone)]
pub struct AttemptRow {
    pub trace: String,
    pub policy: String,
    /// Index into the catalogue.
    pub workload: usize,
    pub submit_s: f64,
    pub dispatch_s: f64,
    pub launch_s: f64,
    pub end_s: f64,
    pub out_of_memory: bool,
}

const ATTEMPT_COLUMNS: &[&str] =
    &["trace", "policy", "workload", "submit_s", "dispatch_s", "launch_s", "end_s"];

/// Of a timeline whose jobs are those of a trace.
const ATTEMPT_COLUMNS_OF_TRACE: &[&str] = &["job_id", "dispatch_s", "launch_s", "end_s"];

/// Reads the attempts of recorded runs. Of one run whose trace is given, that says what each job is and when it was
/// submitted, and a run whose policy is not named is an exclusive one.
pub fn read_attempts(
    source: &str,
    bytes: &[u8],
    catalogue: &Catalogue,
    trace: Option<&Trace>,
) -> Result<Vec<AttemptRow>> {
    let required = if trace.is_some() { ATTEMPT_COLUMNS_OF_TRACE } else { ATTEMPT_COLUMNS };
    let table = Table::parse(source, bytes, required)?;
    table.rows().map(|row| attempt(row, catalogue, trace)).collect()
}

fn attempt(row: Row<'_>, catalogue: &Catalogue, trace: Option<&Trace>) -> Result<AttemptRow> {
    let time = |column: &str| row.required_number(column, 0.0..=MAX_SPAN_S);
    let (trace, policy, workload, submit_s) = match trace {
        Some(trace) => {
            let job_id = row.required_text("job_id")?;
            let job = trace.jobs.iter().find(|job| job.job_id == job_id).ok_or_else(|| {
                input_error!(
                    "{}: {} has no job {job_id:?}; give the trace that was run",
                    row.place("job_id"),
                    trace.source
                )
            })?;
            let workload = catalogue.position(&job.workload).ok_or_else(|| {
                input_error!(
                    "{}, line {}: workload {:?} is not in {}; add it there, or give --workloads",
                    trace.source,
                    job.line,
                    job.workload,
                    catalogue.source()
                )
            })?;
            let submit_s = row.number("submit_s", 0.0..=MAX_SPAN_S)?.unwrap_or(job.submit_s);
            (trace.name.as_str(), row.text("policy").unwrap_or("exclusive"), workload, submit_s)
        }
        None => (
            row.required_text("trace")?,
            row.required_text("policy")?,
            profile_of(row, "workload", catalogue)?,
            time("submit_s")?,
        ),
    };
    let attempt = AttemptRow {
        trace: trace.to_owned(),
        policy: policy.to_owned(),
        workload,
        submit_s,
        dispatch_s: time("dispatch_s")?,
        launch_s: time("launch_s")?,
        end_s: time("end_s")?,
        out_of_memory: row.text("outcome") == Some("oom"),
    };
    if attempt.launch_s < attempt.dispatch_s || attempt.end_s <= attempt.launch_s {
        return Err(input_error!(
            "{}: dispatch {}, launch {} and end {} are out of order; expected dispatch <= launch < end",
            row.place("end_s"),
            attempt.dispatch_s,
            attempt.launch_s,
            attempt.end_s
        ));
    }
    Ok(attempt)
}

/// Reads further runs of workloads alone: catalogue index and runtime in seconds.
pub fn read_solo_runs(source: &str, bytes: &[u8], catalogue: &Catalogue) -> Result<Vec<(usize, f64)>> {
    let table = Table::parse(source, bytes, &["workload", "runtime_s"])?;
    table
        .rows()
        .map(|row| Ok((profile_of(row, "workload", catalogue)?, seconds(row, "runtime_s")?)))
        .collect()
}

fn seconds(row: Row<'_>, column: &str) -> Result<f64> {
    row.required_number(column, 0.001..=MAX_SPAN_S)
}

/// The catalogue's profile for a measured job, which may have run for another number of epochs.
fn profile_of(row: Row<'_>, column: &str, catalogue: &Catalogue) -> Result<usize> {
    let name = row.required_text(column)?;
    let variants = epochs(name)
        .map(|(start, end)| [format!("{}20{}", &name[..start], &name[end..]), name[..start - 1].to_owned()]);
    let known = catalogue
        .position(name)
        .or_else(|| variants.iter().flatten().find_map(|variant| catalogue.position(variant)));
    known.ok_or_else(|| {
        let names = catalogue.workloads().iter().map(|w| w.name.as_str());
        input_error!(
            "{}: unknown workload {name:?}; {}give a catalogue that has it with --workloads",
            row.place(column),
            did_you_mean(name, names)
        )
    })
}

/// Where a name says its number of epochs, as in `_20e_`: the byte range of the digits.
fn epochs(name: &str) -> Option<(usize, usize)> {
    name.match_indices('_').find_map(|(at, _)| {
        let rest = &name[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0 && rest[digits..].starts_with("e_")).then_some((at + 1, at + 1 + digits))
    })
}

/// A workload's name without its number of epochs: the same for runs that differ in nothing else.
pub fn stem(name: &str) -> String {
    match epochs(name) {
        Some((start, end)) => format!("{}{}", &name[..start], &name[end..]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "workload_a,workload_b,solo_a_s,solo_b_s,pair_a_s,pair_b_s\n";

    #[test]
    fn run_lengths_share_a_profile() {
        let catalogue = Catalogue::builtin();
        let line = "mobilenet_cifar100_bs32_12e_1gpu,unet_voc_1gpu_10e_1gpu,100,200,120,230\n";
        let pairs = read_pairs("p.csv", format!("{HEAD}{line}").as_bytes(), &catalogue).unwrap();
        let names = pairs[0].workloads.map(|index| catalogue.workloads()[index].name.as_str());
        assert_eq!(names, ["mobilenet_cifar100_bs32_20e_1gpu", "unet_voc_1gpu"]);
        assert_eq!(stem(names[0]), stem("mobilenet_cifar100_bs32_50e_1gpu"));
        assert_ne!(stem(names[0]), stem("mobilenet_cifar100_bs64_50e_1gpu"));
    }

    #[test]
    fn simulating_measured_rates_gives_measured_speeds() {
        for (solo_s, pair_s) in [([100.0, 300.0], [150.0, 350.0]), ([200.0, 100.0], [210.0, 130.0])] {
            let pair = Pair { workloads: [0, 1], solo_s, pair_s, startup_s: 10.0, closing_s: [0.0; 2] };
            let simulated = pair.simulate(pair.contended_rates());
            for (got, want) in simulated.into_iter().zip(pair.speeds()) {
                assert!((got - want).abs() < 1e-12, "{got} {want}");
            }
        }
    }

    #[test]
    fn bad_input_says_where() {
        let catalogue = Catalogue::builtin();
        for (line, says) in [
            ("vgg16_imagenet_bs16_1gpu,unet_voc_1gpu,1,1,1,1", "line 2, column workload_a: unknown workload"),
            ("unet_voc_1gpu,unet_voc_1gpu,100,-1,100,100", "line 2, column solo_b_s: found -1"),
            ("unet_voc_1gpu,unet_voc_1gpu,5,100,5,100", "line 2, column pair_a_s: with 7.25"),
            ("unet_voc_1gpu,unet_voc_1gpu,100,100,100,400", "line 2, column pair_b_s: with 7.25"),
        ] {
            let error = read_pairs("p.csv", format!("{HEAD}{line}\n").as_bytes(), &catalogue).unwrap_err();
            assert!(error.to_string().starts_with(&format!("p.csv, {says}")), "{error}");
        }
        let head = "case,start_mode,workload,solo_s,mean_slowdown,max_slowdown\n";
        let error = read_crowds("m.csv", format!("{head}a,later,x,1,1,1\n").as_bytes(), &catalogue);
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("m.csv, line 2, column start_mode: found \"later\""), "{error}");
        let head = "trace,policy,workload,submit_s,dispatch_s,launch_s,end_s\n";
        let line = "t,exclusive,unet_voc_1gpu,0,5,4,9\n";
        let error = read_attempts("t.csv", format!("{head}{line}").as_bytes(), &catalogue, None).unwrap_err();
        assert!(error.to_string().starts_with("t.csv, line 2, column end_s: dispatch 5"), "{error}");
    }
}
