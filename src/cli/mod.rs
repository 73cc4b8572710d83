//! The command line: arguments, a library call, output. One file per subcommand.

mod args;
mod calibrate;
mod check;
mod compare;
mod fidelity;
mod figures;
mod list;
mod output;
mod reproduce;
mod run;
mod studies;
mod sweep;
mod trace;
mod tune;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Result;

/// Replays traces of training jobs on shared GPU servers under exclusive, Horus, Lucid and AEGIS scheduling
#[derive(Parser)]
#[command(
    version,
    propagate_version = true,
    after_help = "Examples:
  aegis-sim reproduce                                        the paper's evaluation beside its measurements
  aegis-sim validate --out out                               how close the simulator is to measured runs, over 100 seeds
  aegis-sim compare --trace philly --policy lucid,aegis      policies side by side
  aegis-sim check --experiment E.toml --baseline B.csv       what a change does to metrics, as a gate in CI
  aegis-sim run --trace philly --policy aegis --out out      one run with all its records and figures
  aegis-sim tune --trace my.csv --cluster my.toml            parameters of AEGIS for a trace and a server
  aegis-sim list parameters                                  everything that --set can change

Exit code: 0 ok, 1 a check failed, 2 bad input."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::RunArgs),
    Compare(compare::CompareArgs),
    Sweep(sweep::SweepArgs),
    Merge(sweep::MergeArgs),
    Check(check::CheckArgs),
    Tune(tune::TuneArgs),
    Reproduce(reproduce::ReproduceArgs),
    Validate(validate::ValidateArgs),
    Fidelity(fidelity::FidelityArgs),
    Studies(studies::StudiesArgs),
    Calibrate(calibrate::CalibrateArgs),
    Trace(trace::TraceArgs),
    List(list::ListArgs),
}

/// Parses the process's arguments, runs the command and reports errors.
pub fn main() -> ExitCode {
    match execute(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn execute(command: Command) -> Result<()> {
    match command {
        Command::Run(args) => args.execute(),
        Command::Compare(args) => args.execute(),
        Command::Sweep(args) => args.execute(),
        Command::Merge(args) => args.execute(),
        Command::Check(args) => args.execute(),
        Command::Tune(args) => args.execute(),
        Command::Reproduce(args) => args.execute(),
        Command::Validate(args) => args.execute(),
        Command::Fidelity(args) => args.execute(),
        Command::Studies(args) => args.execute(),
        Command::Calibrate(args) => args.execute(),
        Command::Trace(args) => args.execute(),
        Command::List(args) => args.execute(),
    }
}
