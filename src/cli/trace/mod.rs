//! `aegis-sim trace`: traces from elsewhere, made up, described and checked. One file per subcommand.

mod convert;
mod fit;
mod generate;
mod import;
mod lint;
mod map;
mod stats;

use std::path::Path;

use crate::error::{Result, input_error};

/// Import, map, generate, describe, check and convert traces
#[derive(clap::Args)]
pub(super) struct TraceArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Import(Box<import::ImportArgs>),
    Map(Box<map::MapArgs>),
    Generate(generate::GenerateArgs),
    Fit(fit::FitArgs),
    Stats(stats::StatsArgs),
    Lint(lint::LintArgs),
    Convert(convert::ConvertArgs),
}

/// Refuses to write over what is read: what was there would be gone. `-` is no file.
fn refuse_overwriting<'a>(
    inputs: impl IntoIterator<Item = &'a Path>,
    outputs: &[(&str, Option<&Path>)],
) -> Result<()> {
    let same = |a: &Path, b: &Path| {
        a != Path::new("-") && matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
    };
    for input in inputs {
        let written = outputs.iter().filter_map(|&(option, out)| Some((option, out?)));
        if let Some((option, out)) = written.into_iter().find(|(_, out)| same(input, out)) {
            return Err(input_error!("{} is an input and {option}; write to another file", out.display()));
        }
    }
    Ok(())
}

impl TraceArgs {
    pub fn execute(self) -> Result<()> {
        match self.command {
            Command::Import(args) => args.execute(),
            Command::Map(args) => args.execute(),
            Command::Generate(args) => args.execute(),
            Command::Fit(args) => args.execute(),
            Command::Stats(args) => args.execute(),
            Command::Lint(args) => args.execute(),
            Command::Convert(args) => args.execute(),
        }
    }
}
