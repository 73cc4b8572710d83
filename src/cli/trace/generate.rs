use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::output::{note, place, write_to};
use crate::error::{Error, Result, input_error};
use crate::traces::generate::{Jobs, Options, Spec};
use crate::workload::TraceWriter;

/// Make a synthetic trace from published or fitted statistics
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim trace generate --like philly --jobs 1000 --seed 1 -o philly-1000.csv
  aegis-sim trace generate --like venus --jobs 500 --rate 2 --start-hour 9 | aegis-sim trace stats -
  aegis-sim trace fit my.csv -o my.toml && aegis-sim trace generate --like my.toml --jobs 1000000 -o long.csv

The same specification, seed and options give the same jobs, and a longer trace begins with the shorter one. Jobs have
no workloads yet: aegis-sim trace map gives them some. models/traces/README.md says what the specifications hold and
where each number comes from.")]
pub(in crate::cli) struct GenerateArgs {
    /// philly, saturn, venus, earth, uranus, or a specification file (TOML)
    #[arg(long, value_name = "NAME|FILE")]
    like: String,
    /// Jobs to make
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    jobs: u64,
    /// Seed of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Let jobs arrive so many times as fast, 0.001 to 1000: waits between bursts are shortened or stretched for it, to whole
    /// seconds, and a rate that this would make more than a tenth too slow is refused
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    rate: f64,
    /// Hour of the week at which the first job comes: 0 is Monday 00:00
    #[arg(long, value_name = "HOUR", default_value_t = 0.0)]
    start_hour: f64,
    /// File for the trace, or - for standard output
    #[arg(short = 'o', long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

/// What a trace asks for.
#[derive(Default)]
struct Load {
    jobs: u64,
    span_s: f64,
    gpu_s: f64,
}

impl GenerateArgs {
    pub fn execute(self) -> Result<()> {
        if !(1e-3..=1e3).contains(&self.rate) {
            return Err(input_error!("--rate {}: expected a number from 0.001 to 1000", self.rate));
        }
        check_start_hour(self.start_hour)?;
        super::refuse_overwriting([Path::new(&self.like)], &[("--out", Some(&self.out))])?;
        let spec = Spec::open(&self.like)?;
        let options = Options { seed: self.seed, start_hour: self.start_hour, rate: self.rate };
        // Refused before anything is written.
        let jobs = Jobs::new(&spec, &options)?;
        let Some(load) = write_to(&self.out, |out| self.write(jobs, out))? else { return Ok(()) };
        note(&load.describe());
        Ok(())
    }

    /// Without a word on how many jobs there are: a longer trace is to begin with a shorter one.
    fn comments(&self, spec: &Spec) -> Vec<String> {
        vec![
            format!(
                "Synthetic trace: aegis-sim {}, specification {}",
                env!("CARGO_PKG_VERSION"),
                spec.source
            ),
            format!(
                "seed {}, rate {}, first job at hour {} of the week",
                self.seed, self.rate, self.start_hour
            ),
            "Workloads are blank; aegis-sim trace map gives the jobs some.".to_owned(),
        ]
    }

    fn write(&self, jobs: Jobs<'_>, out: &mut dyn Write) -> Result<Load> {
        let failed = |error| Error::write(place(&self.out), error);
        let mut writer =
            TraceWriter::new(out, &self.comments(jobs.spec()), jobs.columns()).map_err(failed)?;
        let mut load = Load::default();
        // A count beyond what a machine can count to is never reached.
        for job in jobs.take(usize::try_from(self.jobs).unwrap_or(usize::MAX)) {
            let job = job?;
            writer.write(&job).map_err(failed)?;
            load.jobs += 1;
            load.span_s = job.submit_s;
            load.gpu_s += f64::from(job.gpus) * job.duration_s.unwrap_or_default();
        }
        writer.finish().map_err(failed)?;
        Ok(load)
    }
}

impl Load {
    fn describe(&self) -> String {
        let Load { jobs, span_s, gpu_s } = *self;
        let busy = match span_s > 0.0 {
            true => format!(
                "; offered load {:.1} GPUs (GPU-seconds over the time of the arrivals)",
                gpu_s / span_s
            ),
            false => String::new(),
        };
        format!(
            "{jobs} jobs that arrive within {span_s} s ({:.1} days) and ask for {gpu_s} GPU-seconds{busy}",
            span_s / 86_400.0
        )
    }
}

/// Whether this is an hour of a week.
pub(super) fn check_start_hour(hour: f64) -> Result<()> {
    if (0.0..168.0).contains(&hour) {
        return Ok(());
    }
    Err(input_error!("--start-hour {hour}: expected an hour of the week, from 0 (Monday 00:00) to below 168"))
}
