mod report;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::args::FormatArg;
use crate::cli::output::{is_stdout, note, open_trace, print};
use crate::error::{Error, Result, input_error};
use crate::report::atomic;
use crate::traces::map::{Extent, Filter, Mapped, Request, Weights, map};
use crate::workload::{Catalogue, OptionalColumns, Trace, TraceWriter};

const COMPLETED: &str = "completed";

/// Give the jobs of a trace workloads of a catalogue
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim trace map philly.csv -o mapped.csv                        the 60 jobs that look most like the whole
  aegis-sim trace map philly.csv -o mapped.csv --window 2565270       60 jobs from then on
  aegis-sim trace map philly.csv -o mapped.csv --window none          all jobs, as long as they were
  aegis-sim trace map jobs.csv -o - --catalogue my.csv | aegis-sim run --trace - --workloads my.csv --policy aegis

The trace needs duration_s; its workloads may be blank and are replaced. A job gets a workload of its own GPU count, at
the nearest quantile of runtime: its rank by duration among the mapped jobs of that GPU count, from 0 to 1, against
the workload's by solo runtime in the catalogue. Equal durations have different ranks, so that repeats are few.

The window nearest to all eligible jobs is the one of least weighted distance: runtime 0.35 (shares of jobs under
10 min, 1 h, 6 h, 1 day), gpu_demand 0.25 (shares of jobs by GPU count), interarrivals 0.20 (median and 95th percentile),
gpu_service 0.15 (shares of GPU-seconds by GPU count), burst 0.05 (share of jobs that come with the one before). Jobs of
a window run as long as their workloads and start at 0, unless told otherwise.

With --window none all jobs are mapped, of any GPU count and state, and keep submission, GPU count and duration; a job of
a GPU count that no workload has gets one of the smallest count, which each of its GPUs then is like.")]
pub(in crate::cli) struct MapArgs {
    /// A trace with durations: a CSV file (see `aegis-sim trace import`), or - for standard input
    #[arg(value_name = "IN")]
    input: String,
    /// Where the mapped trace goes; - for standard output (the quality then goes to standard error)
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Workload catalogue (CSV) [default: 53 A100 workloads, models/workloads.csv]
    #[arg(long, value_name = "FILE")]
    catalogue: Option<PathBuf>,
    /// Jobs to map: auto, the window most like the whole; a number, the window from that submit_s on; none, all jobs
    #[arg(long, value_name = "auto|START_S|none", default_value = "auto", allow_hyphen_values = true)]
    window: String,
    /// Jobs of the window [default: 60]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// Most GPUs of an eligible job [default: 2; with --window none: any]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_gpus: Option<u32>,
    /// States of eligible jobs, a comma list; any is every state [default: completed; with --window none: any]
    #[arg(long, value_name = "STATE,...", value_delimiter = ',')]
    states: Vec<String>,
    /// A job that is not eligible; repeatable
    #[arg(long, value_name = "JOB_ID")]
    exclude: Vec<String>,
    /// Weight of a distance between window and whole: runtime, gpu_demand, interarrivals, gpu_service or burst; repeatable
    #[arg(long, value_name = "NAME=WEIGHT")]
    weight: Vec<String>,
    /// Let a window's jobs run as long as they did, not as long as their workloads
    #[arg(long)]
    keep_durations: bool,
    /// Let a window start when it did, not at 0
    #[arg(long)]
    keep_times: bool,
    /// Seed of what is drawn: the order of equal durations, and which of two equally near workloads; 0 takes the first
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// File for what was done and how well it fits (JSON)
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
}

impl MapArgs {
    pub fn execute(self) -> Result<()> {
        let inputs = [Some(Path::new(&self.input)), self.catalogue.as_deref()];
        let outputs = [("--out", Some(self.out.as_path())), ("--report", self.report.as_deref())];
        super::refuse_overwriting(inputs.into_iter().flatten(), &outputs)?;
        let request = self.request()?;
        let catalogue = Catalogue::load_or_builtin(self.catalogue.as_deref())?;
        if self.report.as_ref() == Some(&self.out) {
            return Err(input_error!(
                "--out and --report name the same file; choose another for one of them"
            ));
        }
        let trace = open_trace(&self.input)?;
        let mapped = map(&trace, &catalogue, &request)?;
        mapped.notes.iter().for_each(|text| note(text));
        let document =
            report::Document { trace: &trace, catalogue: &catalogue, request: &request, mapped: &mapped };
        let quality = document.render(self.format.format)?;
        let json = document.json()?;
        // Both or none, as far as can be told.
        let report = self.report.as_ref().map(|path| draft(path, json.as_bytes())).transpose()?;
        let comments = self.comments(&trace, &catalogue, &request, &mapped);
        if is_stdout(&self.out) {
            let bytes = written(&mapped, &comments, Vec::new()).map_err(|e| Error::write(&self.out, e))?;
            print(&String::from_utf8_lossy(&bytes))?;
            // Nobody to tell is no reason to stop.
            let _ = std::io::stderr().write_all(quality.as_bytes());
        } else {
            let out = atomic::Draft::new(&self.out)?;
            written(&mapped, &comments, out).map_err(|e| Error::write(&self.out, e))?.finish()?;
            print(&quality)?;
        }
        report.map_or(Ok(()), atomic::Draft::finish)
    }

    fn request(&self) -> Result<Request> {
        let whole = self.window == "none";
        let extent = if whole {
            let window_only = [
                ("--jobs", self.jobs.is_some()),
                ("--weight", !self.weight.is_empty()),
                ("--keep-durations", self.keep_durations),
                ("--keep-times", self.keep_times),
            ];
            if let Some((option, _)) = window_only.iter().find(|(_, given)| *given) {
                return Err(input_error!(
                    "{option} is about a window, and --window none maps all jobs as they are; leave one of them out"
                ));
            }
            Extent::Whole
        } else {
            let start_s = match self.window.as_str() {
                "auto" => None,
                text => match text.parse::<f64>() {
                    Ok(start_s) if start_s.is_finite() => Some(start_s),
                    _ => {
                        return Err(input_error!(
                            "--window {text}: expected auto, none, or the submit_s from which on the window starts"
                        ));
                    }
                },
            };
            Extent::Window {
                jobs: self.jobs.unwrap_or(60) as usize,
                start_s,
                weights: Weights::parse(&self.weight)?,
                keep_durations: self.keep_durations,
                keep_times: self.keep_times,
            }
        };
        let states = match self.states.as_slice() {
            [] if whole => None,
            [] => Some(vec![COMPLETED.to_owned()]),
            states if states.iter().any(|state| state == "any") => None,
            states => Some(states.to_vec()),
        };
        let max_gpus = self.max_gpus.or((!whole).then_some(2));
        Ok(Request {
            extent,
            filter: Filter { max_gpus, states, exclude: self.exclude.clone() },
            seed: self.seed,
        })
    }

    /// What the mapped trace says of itself.
    fn comments(
        &self,
        trace: &Trace,
        catalogue: &Catalogue,
        request: &Request,
        mapped: &Mapped,
    ) -> Vec<String> {
        let version = env!("CARGO_PKG_VERSION");
        let mut comments = vec![
            format!(
                "Production jobs of {} mapped to workloads by aegis-sim {version} trace map",
                trace.source
            ),
            format!("Options: {}", self.words(request).join(" ")),
        ];
        let all = mapped.quality.last();
        let (distinct, mean) =
            all.map_or((0, 0.0), |all| (all.distinct_workloads, all.quantile_distance_mean));
        comments.push(format!(
            "Workloads: {distinct} of {}, at the nearest quantile of runtime (mean distance {mean:.4})",
            catalogue.source()
        ));
        comments.push(match &mapped.window {
            Some(window) => format!(
                "Window: {} consecutive eligible jobs from submit_s {} on, distance {:.4} from all {} (rank {} of {} windows)",
                window.statistics.jobs,
                window.start_s,
                window.distance(),
                mapped.eligible.jobs,
                window.rank,
                window.candidates
            ),
            None => format!("Jobs: {} of {}", mapped.jobs.len(), trace.jobs.len()),
        });
        comments.push(match (&mapped.window, self.keep_times) {
            (Some(window), false) => format!("submit_s: the source's less {}", window.start_s),
            _ => "submit_s: the source's".to_owned(),
        });
        comments.push(match (&mapped.window, self.keep_durations) {
            (Some(_), false) => "duration_s: blank, jobs run as long as their workloads".to_owned(),
            _ => "duration_s: the source's".to_owned(),
        });
        comments
    }

    /// The options, defaults included.
    fn words(&self, request: &Request) -> Vec<String> {
        let mut words = vec![format!("--window {}", self.window)];
        if let Extent::Window { jobs, .. } = request.extent {
            words.push(format!("--jobs {jobs}"));
        }
        words.extend(request.filter.max_gpus.map(|most| format!("--max-gpus {most}")));
        let states = request.filter.states.as_ref().map_or("any".to_owned(), |states| states.join(","));
        words.push(format!("--states {states}"));
        words.extend(self.exclude.iter().map(|id| format!("--exclude {id}")));
        words.extend(self.weight.iter().map(|weight| format!("--weight {weight}")));
        words.extend(self.keep_durations.then(|| "--keep-durations".to_owned()));
        words.extend(self.keep_times.then(|| "--keep-times".to_owned()));
        words.extend(self.catalogue.iter().map(|path| format!("--catalogue {}", path.display())));
        words.push(format!("--seed {}", self.seed));
        words
    }
}

fn written<W: Write>(mapped: &Mapped, comments: &[String], out: W) -> std::io::Result<W> {
    let mut writer = TraceWriter::new(out, comments, OptionalColumns::of(&mapped.jobs))?;
    mapped.jobs.iter().try_for_each(|job| writer.write(job))?;
    writer.finish()
}

fn draft(path: &Path, bytes: &[u8]) -> Result<atomic::Draft> {
    let mut draft = atomic::Draft::new(path)?;
    draft.write_all(bytes).map_err(|e| Error::write(path, e))?;
    Ok(draft)
}
