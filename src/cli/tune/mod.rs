mod report;

use std::io::Write;
use std::path::PathBuf;

use super::args::{FormatArg, InputArgs, JobsArg};
use super::output::{note, note_missing_estimates, note_oversized, open_traces, print, with_progress};
use crate::error::{Error, Result};
use crate::experiment::sweep::GEOMEAN;
use crate::experiment::tune::{Goal, HeldOut, MEAN, Request, Search, SearchSpace, params_text};
use crate::policy::PolicySpec;
use crate::report::atomic;

/// Search parameters of a scheduler for a trace and a server, and judge them on held-out data
#[derive(clap::Args)]
#[command(after_help = "Examples:
  aegis-sim tune --trace philly                                       least makespan, judged under other seeds
  aegis-sim tune --trace philly --max slowdown_p95=3 --out my.toml    then: run --trace philly --policy aegis --params my.toml
  aegis-sim tune --trace my.csv --cluster my.toml --objective jct_mean_s --max failed_attempts=3 --held-out half
  aegis-sim tune --trace philly,venus --search my-space.toml --runs 20000

Random candidates, then successive halving: the best third of each rung runs under three times as many seeds. Candidates
that keep the bounds come first, by the objective: its geometric mean over traces of means over seeds. The best one of the last rung (if there are such, of
those that keep the bounds with all of their 95 % intervals) is then judged beside the defaults (of --params and --set) on held-out data, with 95 % bootstrap intervals of the change; figures in
training are too good, as the candidate was chosen by them. Where nothing better was found, tune says so, writes no --out,
and exits with 0. What modifiers of the policy or --set fix is not searched. experiments/README.md describes search files,
docs/formats.md the output. The same arguments give the same bytes on any number of threads.")]
pub(super) struct TuneArgs {
    /// philly, saturn, venus, a CSV file, or - for standard input; repeatable, or a comma list
    #[arg(long, required = true, value_delimiter = ',')]
    trace: Vec<String>,
    /// The policy whose parameters are searched, with modifiers as for `run`
    #[arg(long, default_value = "aegis")]
    policy: String,
    /// What is to become least: makespan_s, jct_mean_s, energy_j or another figure of `run` of which less is better
    #[arg(long, value_name = "METRIC", default_value = "makespan_s")]
    objective: String,
    /// A bound on the mean of a metric over seeds, kept on every trace; repeatable
    #[arg(long, value_name = "METRIC=BOUND")]
    max: Vec<String>,
    /// What is searched (TOML) [default: experiments/tune/space.toml, built in]
    #[arg(long, value_name = "FILE")]
    search: Option<PathBuf>,
    /// The most runs, those on held-out data included
    #[arg(long, value_name = "N", default_value_t = 4000)]
    runs: usize,
    /// Training seeds: 1 to this
    #[arg(long, value_name = "N", default_value_t = 27)]
    seeds: u64,
    /// What the best candidate is judged on, always under seeds that follow those of training
    #[arg(long, value_enum, default_value_t = HeldOut::Seeds)]
    held_out: HeldOut,
    /// How many seeds it is judged under
    #[arg(long, value_name = "N", default_value_t = 100)]
    held_out_seeds: u64,
    /// Seed of the search: which candidates are drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    jobs: JobsArg,
    /// Parameter file for the recommendation, which run and compare take with --params
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    format: FormatArg,
}

impl TuneArgs {
    pub fn execute(self) -> Result<()> {
        let policy: PolicySpec = self.policy.parse()?;
        let goal = Goal::parse(&self.objective, &self.max)?;
        let space = match &self.search {
            Some(path) => SearchSpace::load(path)?,
            None => SearchSpace::builtin(),
        };
        let options = self.inputs.words();
        let settings = self.inputs.load()?;
        let traces = open_traces(&self.trace, &[GEOMEAN, MEAN])?;
        let params = settings.params(&policy)?;
        for trace in &traces {
            let world = settings.world(trace)?;
            note_oversized(&world);
            note_missing_estimates(&world, &policy, &params);
        }
        let search = Search::new(Request {
            policy,
            settings,
            traces,
            space,
            goal,
            runs: self.runs,
            training_seeds: self.seeds,
            held_out: self.held_out,
            held_out_seeds: self.held_out_seeds,
            seed: self.seed,
        })?;
        // Refused before the search rather than after it.
        let draft = self.out.as_ref().map(|path| Ok((path, atomic::Draft::new(path)?))).transpose()?;
        search.notes.iter().for_each(|text| note(text));
        let tuned = with_progress(search.most_runs() as u64, |ended| search.run(self.jobs.threads(), ended))?;
        let mut written = None;
        if let Some((path, mut draft)) = draft.filter(|_| tuned.verdict.recommends()) {
            let text = params_text(&tuned, &options);
            draft.write_all(text.as_bytes()).map_err(|e| Error::write(path, e))?;
            draft.finish()?;
            written = Some(path);
        }
        print(&report::render(self.format.format, &tuned, self.out.as_deref(), written.is_some())?)
    }
}
