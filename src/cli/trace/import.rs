use crate::error::{Result, input_error};

/// Turn a production log into a trace
#[derive(clap::Args)]
pub(in crate::cli) struct ImportArgs {}

impl ImportArgs {
    pub fn execute(self) -> Result<()> {
        Err(input_error!("not built yet"))
    }
}
