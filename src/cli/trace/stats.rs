use crate::error::{Result, input_error};

/// Describe traces, side by side
#[derive(clap::Args)]
pub(in crate::cli) struct StatsArgs {}

impl StatsArgs {
    pub fn execute(self) -> Result<()> {
        Err(input_error!("not built yet"))
    }
}
