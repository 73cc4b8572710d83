//! Where jobs go: dropped with a reason, or written in the order of their submission.

use std::io::Write;
use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::account::{Account, Place};
use super::code::{Notice, Reason};
use super::job::{Demand, Found, Problem};
use super::options::{FractionalGpus, ImportOptions, Origin, Selection};
use super::spool::{Spool, Spooled};
use crate::error::{Error, Result, input_error};
use crate::workload::{Cells, MAX_SPAN_S, OptionalColumns, RowRenderer, TraceWriter};

const SECONDS_OF_YEAR: i64 = 31_556_952;
/// The longest time that a trace can hold.
const MAX_SPAN_US: i64 = (MAX_SPAN_S * 1e6) as i64;

/// Takes jobs, drops what is to be dropped and writes the others.
pub(super) struct Sink<'a> {
    options: &'a ImportOptions,
    pub account: Account,
    columns: OptionalColumns,
    renderer: RowRenderer,
    spool: Spool,
    last_us: i64,
    /// Room for the text of numbers.
    numbers: [String; 2],
}

impl<'a> Sink<'a> {
    pub fn new(options: &'a ImportOptions, columns: OptionalColumns) -> Sink<'a> {
        Sink {
            options,
            account: Account::new(&options.format.name()),
            columns,
            renderer: RowRenderer::new(columns),
            spool: Spool::new(),
            last_us: i64::MIN,
            numbers: Default::default(),
        }
    }

    pub fn take(&mut self, line: u64, found: Result<Found<'_>, Problem>) -> Result<()> {
        self.account.count_row();
        let found = found.and_then(|found| {
            if let Some(us) = found.job.duration_us.filter(|&us| us > MAX_SPAN_US) {
                return Err(Problem::field(Reason::BadNumber, "duration", &format!("{} s", us / 1_000_000)));
            }
            let left_out = self.options.filter.leaves_out(&found.job);
            left_out.map_or(Ok(found), |reason| Err(reason.into()))
        });
        let Found { mut job, notices } = match found {
            Ok(found) => found,
            Err(problem) => {
                let place = self.account.place(line, problem.detail);
                self.account.drop_row(problem.reason, place);
                return Ok(());
            }
        };
        for (i, &notice) in notices.iter().enumerate() {
            // Once for a job, however many of its times it is about.
            if !notices[..i].contains(&notice) {
                self.notice(notice, line);
            }
        }
        self.account.lacks_workloads |= job.workload.is_empty();
        if job.demand.share.is_some() {
            match self.options.fractional_gpus {
                FractionalGpus::Share => self.notice(Notice::GpuShare, line),
                FractionalGpus::RoundUp => {
                    job.demand = Demand { share: None, ..job.demand };
                    self.notice(Notice::RoundedUp, line);
                }
            }
        }
        if job.state.is_none() && self.options.filter.names_states() {
            self.notice(Notice::NotForStates, line);
        }
        if job.submit_us < self.last_us {
            self.notice(Notice::OutOfOrder, line);
        }
        self.last_us = self.last_us.max(job.submit_us);
        let [duration_s, share] = &mut self.numbers;
        duration_s.clear();
        if let Some(us) = job.duration_us {
            push_seconds(us.unsigned_abs(), duration_s);
        }
        *share = job.demand.share.map_or(String::new(), |share| share.to_string());
        let cells = Cells {
            job_id: &job.id,
            workload: &job.workload,
            gpus: job.demand.gpus,
            duration_s,
            gpu_share: share,
            user: job.user.as_deref().unwrap_or_default(),
            vc: job.vc.as_deref().unwrap_or_default(),
            state: job.state.as_deref().unwrap_or_default(),
        };
        let Place { file, .. } = self.account.place(line, None);
        let mut spooled = Spooled {
            submit_us: job.submit_us,
            number: 0,
            file: file as u32,
            line,
            gpus: job.demand.gpus,
            row: Default::default(),
        };
        self.renderer.render(&cells, &mut spooled.row);
        self.spool.push(&job.id, spooled).map_err(spool_error)
    }

    fn notice(&mut self, notice: Notice, line: u64) {
        let place = self.account.place(line, None);
        self.account.notice(notice, place);
    }

    /// `has_dates`: whether submissions are dates.
    pub fn finish(mut self, has_dates: bool, out: &mut dyn Write, out_name: &Path) -> Result<Account> {
        self.account.decisions = self.options.decisions(has_dates);
        let failed = |error| Error::write(out_name, error);
        self.check_losses()?;
        let (jobs, repeated) =
            std::mem::replace(&mut self.spool, Spool::new()).finish().map_err(spool_error)?;
        let mut choice = Choice::new(self.options.selection, repeated.others());
        let mut writer: Option<TraceWriter<&mut dyn Write>> = None;
        let mut out = Some(out);
        let mut submit_s = String::new();
        let mut origin = None;
        for job in jobs {
            let job = job.map_err(spool_error)?;
            let place = Place { file: job.file as usize, line: job.line, detail: None };
            let dropped =
                if repeated.contains(job.number) { Some(Reason::DuplicateId) } else { choice.next() };
            if let Some(reason) = dropped {
                self.account.drop_row(reason, place);
                continue;
            }
            // With --sample the first job that is kept may be a later one.
            let origin_us = *origin.get_or_insert(match self.options.origin {
                Origin::First => job.submit_us,
                Origin::Source => 0,
            });
            let after_us = job.submit_us - origin_us;
            if after_us < 0 {
                return Err(input_error!(
                    "{}: the job was submitted before the log's zero, which no trace can hold; leave --origin source away",
                    self.account.show(&place, true)
                ));
            }
            if after_us > MAX_SPAN_US {
                return Err(input_error!(
                    "{}: the job was submitted {} years after the first that is kept, which no trace can hold; leave \
                     one of them out with --from or --to",
                    self.account.show(&place, true),
                    after_us / 1_000_000 / SECONDS_OF_YEAR
                ));
            }
            if writer.is_none()
                && let Some(out) = out.take()
            {
                let comments = self.comments(origin_us, has_dates);
                writer = Some(TraceWriter::new(out, &comments, self.columns).map_err(failed)?);
            }
            self.account.keep(job.submit_us);
            if let Some(cluster) = &self.options.cluster {
                let larger = [
                    (cluster.largest_server_gpus(), Notice::LargerThanServer),
                    (cluster.gpu_count(), Notice::LargerThanCluster),
                ];
                for (_, notice) in larger.into_iter().filter(|(gpus, _)| job.gpus as usize > *gpus) {
                    self.account.notice(notice, place.clone());
                }
            }
            submit_s.clear();
            push_seconds(after_us.unsigned_abs(), &mut submit_s);
            if let Some(writer) = &mut writer {
                writer.write_row(&job.row, &submit_s).map_err(failed)?;
            }
        }
        self.check_losses()?;
        if self.account.kept() == 0 {
            return Err(input_error!(
                "no job is left of {} rows: {}",
                self.account.rows_read(),
                self.account.dropped_words(|_| true)
            ));
        }
        if let Some(writer) = writer {
            writer.finish().map_err(failed)?;
        }
        Ok(self.account)
    }

    fn check_losses(&self) -> Result<()> {
        let is_loss = |reason: Reason| !reason.is_asked_for();
        match self.account.dropped_if(is_loss) {
            count @ 1.. if self.options.strict => Err(input_error!(
                "{count} of {} rows would be dropped, which --strict forbids: {}; mend them, or import without it",
                self.account.rows_read(),
                self.account.dropped_words(is_loss)
            )),
            _ => Ok(()),
        }
    }

    /// What stands at the head of the trace.
    fn comments(&self, origin_us: i64, has_dates: bool) -> Vec<String> {
        let mut comments = vec![format!(
            "imported by aegis-sim {} from {} ({})",
            env!("CARGO_PKG_VERSION"),
            self.account.files().collect::<Vec<_>>().join(", "),
            self.options.format.name()
        )];
        comments.push(match self.options.origin {
            Origin::First if has_dates => {
                format!("submit_s 0 is {}", self.options.clock.show(origin_us))
            }
            Origin::First => format!("submit_s 0 is {} s of the log's time", origin_us as f64 / 1e6),
            Origin::Source => "submit_s is the log's own time".to_owned(),
        });
        comments.extend(self.account.decisions.iter().cloned());
        comments
    }
}

fn spool_error(error: std::io::Error) -> Error {
    Error::Write { path: std::env::temp_dir(), source: error }
}

/// Seconds with as many decimals as needed.
fn push_seconds(us: u64, text: &mut String) {
    text.push_str(itoa::Buffer::new().format(us / 1_000_000));
    if !us.is_multiple_of(1_000_000) {
        text.push_str(format!(".{:06}", us % 1_000_000).trim_end_matches('0'));
    }
}

/// Which of so many jobs are written, one after the other.
struct Choice {
    selection: Selection,
    /// Jobs that are still to come, and how many of them are still to be taken.
    left: u64,
    wanted: u64,
    draws: ChaCha8Rng,
}

impl Choice {
    fn new(selection: Selection, jobs: u64) -> Choice {
        let (wanted, seed) = match selection {
            Selection::All => (jobs, 0),
            Selection::Head(count) => (count.min(jobs), 0),
            Selection::Sample { count, seed } => (count.min(jobs), seed),
        };
        Choice { selection, left: jobs, wanted, draws: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Why the next job is left out, if it is. A sample takes each with the probability that leaves the others as likely.
    fn next(&mut self) -> Option<Reason> {
        let left_out = match self.selection {
            Selection::All => None,
            Selection::Head(_) => (self.wanted == 0).then_some(Reason::BeyondHead),
            Selection::Sample { .. } => {
                let draw = (u128::from(self.draws.next_u64()) * u128::from(self.left)) >> 64;
                (draw >= u128::from(self.wanted)).then_some(Reason::NotSampled)
            }
        };
        self.left -= 1;
        self.wanted -= u64::from(left_out.is_none());
        left_out
    }
}
