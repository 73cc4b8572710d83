mod blind_gpu;
mod document;
mod fitted;
mod threshold;
pub(super) mod words;

use std::path::PathBuf;

use super::output::{make_dir, with_progress};
use super::validate::figures;
use crate::calibrate::runtime_factors_without;
use crate::error::Result;
use crate::experiment::{Evaluation, Reference, Settings, validate, validate_with_sound_telemetry};
use crate::report::atomic;

/// Write docs/fidelity.md: how close the simulator is to the paper's measurements, and what a blind GPU changed in them
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim fidelity --out docs
  aegis-sim fidelity --out out --seeds 20

Replays the paper's measured runs under seeds 1 to --seeds, as validate does, and once more with sound telemetry on all GPUs;
fits the models anew for their errors on what is left out. Writes fidelity.md and, in the directory fidelity, its figures as SVG and
PNG. For measured runs, settings and tables of your own, use validate.")]
pub(super) struct FidelityArgs {
    /// Directory for the document
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Runs for each measured run and telemetry condition: seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    seeds: u64,
}

/// Beside the document: the directory of its figures.
const FIGURES: &str = "fidelity";

impl FidelityArgs {
    pub fn execute(self) -> Result<()> {
        let evaluation = Evaluation::builtin();
        let settings = Settings::default();
        let reference = Reference::of_evaluation(&evaluation, None)?;
        let runs = 2 * reference.run_count() as u64 * self.seeds;
        let (validation, counterfactual) = with_progress(runs, |replayed| {
            validate_with_sound_telemetry(&reference, &settings, self.seeds, replayed)
        })?;
        let calibrations = fitted::calibrations(&evaluation, &settings)?;
        let threshold_study = threshold::Replayed::new(&settings)?;
        let traces_left_out = evaluation
            .traces
            .iter()
            .map(|trace| {
                let mut settings = settings.clone();
                settings.model.runtime_factors = runtime_factors_without(trace, &settings.catalogue)?;
                let validation =
                    validate(&reference.only(|run| run.trace == *trace), &settings, self.seeds, &|| {})?;
                Ok((trace.clone(), validation))
            })
            .collect::<Result<Vec<_>>>()?;
        let dir = self.out.join(FIGURES);
        make_dir(&dir)?;
        let mut drawn = figures::write(&dir, &validation)?;
        drawn.push(blind_gpu::write_figure(&dir, &counterfactual)?);
        let document = document::Document {
            evaluation: &evaluation,
            gpus: settings.cluster.gpu_count(),
            validation: &validation,
            counterfactual: &counterfactual,
            calibrations: &calibrations,
            threshold_study: &threshold_study,
            traces_left_out: &traces_left_out,
            figures: &drawn,
        };
        atomic::write(&self.out.join("fidelity.md"), document.text().as_bytes())
    }
}
