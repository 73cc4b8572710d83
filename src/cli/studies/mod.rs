mod findings;
mod study;
mod thresholds;

use std::path::PathBuf;

use rayon::prelude::*;

use self::study::{Finding, Study};
use super::output::{make_dir, with_progress};
use super::sweep::figures;
use crate::error::Result;
use crate::experiment::sweep::{Experiment, Manifest, Results, check_failures, run_all};
use crate::report::atomic;

/// Write docs/studies.md: what the shipped experiments show, with their figures
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim studies --out docs
  aegis-sim sweep load --out out          one of them with all its tables

Runs the built-in experiments. Writes studies.md and, in the directory studies, their figures as SVG and PNG. What the document
says follows from the numbers of this version.")]
pub(super) struct StudiesArgs {
    /// Directory for the document
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Name of an experiment, and what is found in its results.
const STUDIES: [(&str, Finding); 8] = [
    ("observation_window", findings::observation_window),
    ("pressure_thresholds", thresholds::findings),
    ("placement", findings::placement),
    ("memory_information", findings::memory_information),
    ("recovery", findings::recovery),
    ("load", findings::load),
    ("gpus", findings::gpus),
    ("interference", findings::interference),
];

const HEAD: &str = "\
<!-- Written by `aegis-sim studies`: changes by hand are lost. -->
# Studies

What the simulator says about questions that its users ask, on the three built-in traces and the server of the paper (3 x A100
40 GB) unless a study changes them. Each study is an experiment file in [experiments/](../experiments/README.md) that can be run
and changed: `cargo run --release -- sweep NAME --out out`. All sentences below follow from the numbers of this version.

Values are means over seeds, bands and intervals 95 % bootstrap intervals of these means. Means over traces are geometric ones.
Differences are taken between runs under the same seed; one whose interval holds 0 is called not clear. With as many settings as
some studies have, the best of them is partly luck: see how it compares on each trace. Simulated with sound telemetry on all
GPUs; [fidelity.md](fidelity.md) says how far to trust the model.
";

impl StudiesArgs {
    pub fn execute(self) -> Result<()> {
        let experiments =
            STUDIES.iter().map(|(name, _)| Experiment::open(name)).collect::<Result<Vec<Experiment>>>()?;
        let runs = experiments.iter().map(|experiment| experiment.design.run_count() as u64).sum();
        let all_lines = with_progress(runs, |ended| {
            let lines = |experiment: &Experiment| run_all(experiment, 0, &|_, _| ended());
            experiments.iter().map(lines).collect::<Result<Vec<_>>>()
        })?;
        let sections = STUDIES.par_iter().zip(&experiments).zip(&all_lines);
        let sections = sections.map(|(((name, finding), experiment), lines)| {
            let manifest = Manifest::of(experiment, None)?;
            let results = Results::new(&manifest, lines)?;
            check_failures(results.design(), &results.failures)?;
            let dir = self.out.join("studies").join(name);
            make_dir(&dir)?;
            figures::write(&dir, &results)?;
            let plots = manifest.presentation.plots.iter();
            let drawn = plots.map(|plot| Ok((plot.name.clone(), figures::caption(&results, plot)?)));
            let mut drawn = drawn.collect::<Result<Vec<_>>>()?;
            let study = Study::new(&results);
            let found = finding(&study, &dir)?;
            drawn.extend(found.figures);
            Ok(section(name, &study, &found.sentences, &drawn))
        });
        let sections = sections.collect::<Result<Vec<String>>>()?;
        atomic::write(&self.out.join("studies.md"), (HEAD.to_owned() + &sections.concat()).as_bytes())
    }
}

fn section(name: &str, study: &Study<'_>, sentences: &[String], figures: &[(String, String)]) -> String {
    let design = study.results.design();
    let presentation = &study.results.manifest.presentation;
    let picture = |(figure, caption): &(String, String)| {
        let capital = caption.chars().next().map_or(String::new(), |first| first.to_uppercase().collect());
        let rest: String = caption.chars().skip(1).collect();
        format!("![{figure}](studies/{name}/{figure}.svg)\n\n{capital}{rest}.\n\n")
    };
    let pictures = figures.iter().map(picture);
    format!(
        "\n## {}\n\n{} (`{name}`: {} settings x {} traces x {} seeds.)\n\n{}\n\n{}",
        presentation.title,
        presentation.about,
        design.setting_count(),
        design.traces.len(),
        design.replicates,
        sentences.iter().map(|sentence| format!("- {sentence}")).collect::<Vec<_>>().join("\n"),
        pictures.collect::<String>().trim_end().to_owned() + "\n"
    )
}
