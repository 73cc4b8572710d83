use crate::error::{Result, input_error};

/// Write a trace in another format
#[derive(clap::Args)]
pub(in crate::cli) struct ConvertArgs {}

impl ConvertArgs {
    pub fn execute(self) -> Result<()> {
        Err(input_error!("not built yet"))
    }
}
