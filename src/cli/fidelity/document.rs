//! The document: a function for each section.

use super::FIGURES;
use super::blind_gpu;
use super::fitted::{Calibration, OUT_OF_SAMPLE, SOURCES};
use super::threshold::{self, Replayed};
use crate::cli::validate::report::Sections;
use crate::experiment::{Condition, Counterfactual, Evaluation, Scope, Status, Validation};
use crate::report::{Row, row};

pub(super) struct Document<'a> {
    pub evaluation: &'a Evaluation,
    /// Of the cluster.
    pub gpus: usize,
    pub validation: &'a Validation,
    pub counterfactual: &'a Counterfactual,
    pub calibrations: &'a [Calibration],
    pub threshold_study: &'a Replayed,
    /// Trace, and its runs with runtime factors from the other traces.
    pub traces_left_out: &'a [(String, Validation)],
    /// Names and captions.
    pub figures: &'a [(&'static str, &'static str)],
}

const HEAD: &str = "\
<!-- Written by `aegis-sim fidelity`: changes by hand are lost. -->
# Fidelity

How close the simulator is to runs on hardware, on what it was fitted, and how a defect of the measured telemetry acts on the
results. All numbers are worked out by `aegis-sim fidelity` from the code and the data of this version. What is modelled, what is
left out and when not to trust a result stands in [model.md](model.md#how-far-to-trust-it).

";

impl Document<'_> {
    pub fn text(&self) -> String {
        let mut sections = Sections::document(HEAD, "### ");
        self.compared(&mut sections);
        self.targets(&mut sections);
        self.errors(&mut sections);
        self.jobs(&mut sections);
        threshold::section(&mut sections, self.threshold_study);
        self.left_out(&mut sections);
        blind_gpu::section(&mut sections, self.counterfactual);
        self.figure(&mut sections, blind_gpu::FIGURE);
        blind_gpu::tables(&mut sections, self.counterfactual);
        self.runs(&mut sections);
        sections.finish()
    }

    fn compared(&self, sections: &mut Sections) {
        let Evaluation { traces, policies, measured, .. } = self.evaluation;
        let blind =
            measured.runs().iter().filter(|run| run.telemetry != Condition::Known("none".to_owned())).count();
        let (runs, seeds) = (self.validation.runs.len(), self.validation.seeds);
        sections.text += &format!(
            "\
## What is compared

- **Measured:** {runs} runs on a server with {} GPUs, one for each of {} traces under {} policies, and all of their jobs. As there is
  one run of each, nothing is known of the spread between measured runs.
- **Simulated:** the same runs under seeds 1 to {seeds}; seed 0, without run-to-run noise, is no draw of what might have been
  measured. Each has the telemetry condition of its measured run: in {blind} of the {runs}, SMACT and SMOCC of one GPU read
  zero. Which GPU that was is not recorded, so that it is drawn for every seed.
- **Error:** of the median over seeds against the measured value.
- **Interval:** from the 5th to the 95th percentile over seeds, which holds 90 % of simulated runs. *Inside*: whether it holds the
  measured value, or the share of the runs where it does; if simulated and measured runs were draws of the same, about 0.9.
  *Width*: that of the interval in percent of the median, as a median over runs.

Constants were fitted to some of these runs, whose errors are then not those of a prediction:

",
            self.gpus,
            traces.len(),
            policies.len(),
        );
        let rows = SOURCES.map(|[constants, fitted_to, in_sample]| {
            row([
                ("constants", constants.into()),
                ("fitted_to", fitted_to.into()),
                ("in_sample", in_sample.into()),
            ])
        });
        let columns = [
            ("constants", "constants"),
            ("fitted_to", "fitted to, or chosen by"),
            ("in_sample", "not out of sample"),
        ];
        sections.rows(&rows, &columns);
        sections.text += OUT_OF_SAMPLE;
    }

    fn targets(&self, sections: &mut Sections) {
        let targets = &self.validation.targets;
        let with = |status| targets.iter().filter(|target| target.status == status).count();
        sections.text += &format!(
            "## Targets\n\nOf {} targets set in experiments/paper.toml, {} are met and {} missed.\n\n",
            targets.len(),
            with(Status::Met),
            with(Status::Missed)
        );
        let shortfalls = self.validation.shortfalls();
        if !shortfalls.is_empty() {
            sections.text += &format!("- Missed: {}.\n\n", shortfalls.join(".\n- Missed: "));
        }
        sections.closing(self.validation);
    }

    fn errors(&self, sections: &mut Sections) {
        sections.text += "## Errors\n\n";
        self.figure(sections, "agreement");
        self.figure(sections, "errors");
        sections.aggregates("Over all runs", self.validation, &Scope::All);
        sections.scoped_aggregates("By policy and by trace", self.validation);
    }

    fn jobs(&self, sections: &mut Sections) {
        sections.text += "## Jobs\n\nErrors are absolute ones of median JCTs of single jobs; rank correlation (Spearman's) is \
                          that of measured and median JCTs within a run, over several runs their mean.\n\n";
        self.figure(sections, "job_agreement");
        self.figure(sections, "jct");
        sections.jobs(self.validation, true);
    }

    fn left_out(&self, sections: &mut Sections) {
        sections.text += "## Left out of the fit\n\nEach fit done anew, with its errors on the data that it was fitted to and on \
                          data that were left out.\n\n";
        self.traces_left_out(sections);
        for Calibration { command, about, report } in self.calibrations {
            let rows: Vec<Row> = report
                .error_lines()
                .map(|(name, value)| row([("name", name.as_str().into()), ("value", value.as_str().into())]))
                .collect();
            sections.text += &format!("### {command}\n\n{about}\n\n");
            sections.rows(&rows, &[("name", "error"), ("value", "")]);
        }
    }

    /// Whole runs on a trace to which nothing at all was fitted.
    fn traces_left_out(&self, sections: &mut Sections) {
        sections.text += "### Traces\n\nRuns on a trace with the runtime factors of the other two, which are all that is fitted by trace: \
                          mean absolute errors of medians in percent, and with the factors of all traces.\n\n";
        let error = |validation: &Validation, scope: &Scope, figure: &str| {
            let found = validation.aggregates.iter().find(|a| a.scope == *scope && a.figure == figure);
            let error = found.and_then(|aggregate| aggregate.error_pct.as_ref());
            error.map_or(f64::NAN, |error| error.mean_absolute)
        };
        let rows: Vec<Row> = self
            .traces_left_out
            .iter()
            .map(|(trace, validation)| {
                let mut row = row([("trace", trace.as_str().into())]);
                for figure in ["makespan_s", "jct_mean_s", "execution_time_mean_s"] {
                    let left_out = error(validation, &Scope::All, figure);
                    let all = error(self.validation, &Scope::Trace(trace.clone()), figure);
                    row.insert(figure.into(), format!("{left_out:.2} ({all:.2})").into());
                }
                row
            })
            .collect();
        sections.rows(
            &rows,
            &[
                ("trace", "trace"),
                ("makespan_s", "makespan"),
                ("jct_mean_s", "mean JCT"),
                ("execution_time_mean_s", "mean execution time"),
            ],
        );
    }

    fn runs(&self, sections: &mut Sections) {
        sections.text += "## Run by run\n\n";
        sections.runs(self.validation);
    }

    fn figure(&self, sections: &mut Sections, name: &str) {
        if let Some((name, caption)) = self.figures.iter().find(|(known, _)| *known == name) {
            sections.figure(&format!("{FIGURES}/"), name, caption);
        }
    }
}
