use crate::error::{Result, input_error};

/// Make a synthetic trace from published or fitted statistics
#[derive(clap::Args)]
pub(in crate::cli) struct GenerateArgs {}

impl GenerateArgs {
    pub fn execute(self) -> Result<()> {
        Err(input_error!("not built yet"))
    }
}
