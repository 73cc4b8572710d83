use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::cli::output::{note, open_trace, place, write_to};
use crate::cluster::ClusterSpec;
use crate::error::{Error, Result, input_error};
use crate::traces::convert::{AegisFormat, NativeFormat, SPECS, SwfFormat, TraceFormat};
use crate::workload::{Catalogue, OptionalColumns};

/// Write a trace in another format
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim trace convert my.csv --to swf -o my.swf --cluster my.toml     for simulators of batch schedulers
  aegis-sim trace convert my.csv --to aegis -o artifact.csv               for the AEGIS artifact on real GPUs
  aegis-sim trace convert my.csv --to csv -o sorted.csv                   sorted, with the columns in order
  aegis-sim trace convert philly --to swf -o - | head

Jobs stand in the order of their submission. What a format cannot hold is said on standard error, with counts. docs/formats.md
has the formats, and how names come back from an SWF file.")]
pub(in crate::cli) struct ConvertArgs {
    /// A CSV file, philly, saturn, venus, or - for standard input
    #[arg(value_name = "IN")]
    trace: String,
    /// The file to write, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    out: String,
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: To,
    /// Workload catalogue (CSV): run times for swf, GPUs for aegis [default: 53 A100 workloads, models/workloads.csv]
    #[arg(long, value_name = "FILE")]
    workloads: Option<PathBuf>,
    /// Cluster file (TOML): nodes and processors in the header of swf
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Optional columns of csv: gpu_share, user, vc, state [default: those with a value]
    #[arg(long, value_enum, value_name = "COLUMN", value_delimiter = ',', hide_possible_values = true)]
    columns: Option<Vec<Column>>,
    /// Directory of the specifications in aegis [default: evaluation/workloads/training/specs/yaml]
    #[arg(long, value_name = "DIR")]
    specs: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// Standard Workload Format 2.2
    Swf,
    /// Execution trace of the AEGIS artifact
    Aegis,
    /// The simulator's own
    Csv,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Column {
    GpuShare,
    User,
    Vc,
    State,
}

impl ConvertArgs {
    pub fn execute(self) -> Result<()> {
        let given = [
            (self.columns.is_some(), To::Csv, "--columns", "csv"),
            (self.cluster.is_some(), To::Swf, "--cluster", "swf"),
            (self.specs.is_some(), To::Aegis, "--specs", "aegis"),
        ];
        if let Some((.., option, format)) = given.iter().find(|(given, to, ..)| *given && *to != self.to) {
            return Err(input_error!("{option} is for --to {format}; leave it out"));
        }
        let inputs = [Some(Path::new(&self.trace)), self.workloads.as_deref(), self.cluster.as_deref()];
        super::refuse_overwriting(inputs.into_iter().flatten(), &[("--out", Some(Path::new(&self.out)))])?;
        let catalogue = Catalogue::load_or_builtin(self.workloads.as_deref())?;
        let cluster = self.cluster.as_ref().map(|path| ClusterSpec::load(path)).transpose()?;
        let trace = open_trace(&self.trace)?;
        let format: Box<dyn TraceFormat> = match self.to {
            To::Swf => Box::new(SwfFormat { catalogue: &catalogue, cluster: cluster.as_ref() }),
            To::Aegis => {
                let specs = self.specs.unwrap_or_else(|| SPECS.to_owned());
                Box::new(AegisFormat { catalogue: &catalogue, specs })
            }
            To::Csv => {
                let has = |columns: &Vec<Column>| OptionalColumns {
                    gpu_share: columns.contains(&Column::GpuShare),
                    user: columns.contains(&Column::User),
                    vc: columns.contains(&Column::Vc),
                    state: columns.contains(&Column::State),
                };
                Box::new(NativeFormat { columns: self.columns.as_ref().map(has) })
            }
        };
        format.check(&trace)?;
        let out = Path::new(&self.out);
        write_to(out, |text| format.write(&trace, text).map_err(|error| Error::write(place(out), error)))?;
        for loss in format.losses(&trace) {
            note(&format!("{}: {loss}", trace.name));
        }
        Ok(())
    }
}
