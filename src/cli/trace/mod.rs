//! `aegis-sim trace`: traces from elsewhere, made up, described and checked. One file per subcommand.

mod convert;
mod fit;
mod generate;
mod import;
mod lint;
mod map;
mod stats;

use crate::error::Result;

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
