use crate::error::{Result, input_error};

/// Say what is wrong with a trace, why it matters and how to mend it
#[derive(clap::Args)]
pub(in crate::cli) struct LintArgs {}

impl LintArgs {
    pub fn execute(self) -> Result<()> {
        Err(input_error!("not built yet"))
    }
}
