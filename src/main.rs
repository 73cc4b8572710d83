use std::process::ExitCode;

fn main() -> ExitCode {
    aegis_sim::cli::main()
}
