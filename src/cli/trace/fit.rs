use crate::error::{Result, input_error};

/// Fit the statistics of a synthetic trace to a trace
#[derive(clap::Args)]
pub(in crate::cli) struct FitArgs {}

impl FitArgs {
    pub fn execute(self) -> Result<()> {
        Err(input_error!("not built yet"))
    }
}
