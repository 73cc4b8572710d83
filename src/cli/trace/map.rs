use crate::error::{Result, input_error};

/// Give the jobs of a trace workloads of a catalogue
#[derive(clap::Args)]
pub(in crate::cli) struct MapArgs {}

impl MapArgs {
    pub fn execute(self) -> Result<()> {
        Err(input_error!("not built yet"))
    }
}
