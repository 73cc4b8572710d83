//! The threshold study replayed: sequences of jobs let onto one GPU through the pressure filter.

use rayon::prelude::*;

use super::Settings;
use super::threshold_data::{StudyData, StudyFigures, StudySequence, StudySetting};
use super::threshold_result::{SettingResult, ThresholdStudy};
use crate::error::Result;
use crate::metrics::mean;
use crate::policy::{BlindGpu, Params, PolicyKind, PolicySpec};
use crate::sim::{NoObserver, RunRecord, World, simulate};
use crate::workload::{Trace, TraceJob};

/// How the study's runner looked at its gate: it retried every 1.42 to 1.52 s.
const RETRY_S: f64 = 1.47;
/// The worlds of a study's sequences: what can be prepared once for all settings.
pub struct StudyReplay<'a> {
    data: &'a StudyData,
    worlds: Vec<World>,
    params: Params,
    policy: PolicySpec,
}

/// Runs of a study's settings, each with sound telemetry and with SMACT and SMOCC reading zero.
///
/// The counters of the study's server fail some hours after a reboot, and it is not recorded when they had:
/// under high thresholds the gate never closed, and under low ones it closed in some settings and let all jobs
/// in under others that are hardly different.
pub struct StudyRuns<'a> {
    settings: Vec<(&'a StudySetting, Vec<SeedRuns>)>,
}

/// By sequence: sound and blind.
type SeedRuns = Vec<[SequenceFigures; 2]>;

/// Figures of one run of one sequence.
#[derive(Debug, Clone, Copy)]
struct SequenceFigures {
    throughput_gain: f64,
    slowdown_mean: f64,
    slowdown_max: f64,
    deferrals: f64,
}

impl<'a> StudyReplay<'a> {
    /// Prepares worlds of one GPU of the cluster's first server, on which all jobs of a sequence wait from
    /// the start. Parameters are those of `aegis` but for what follows from the study.
    ///
    /// A cut job takes the study's own runtime alone. One of full length takes the catalogue's with its
    /// runtime factor: the study's figures for those are too long by 8 to 12 %. (Run one after the other, the
    /// jobs of the sequences with two such jobs had a mean slowdown of 0.94 to 0.97; this predicts 0.955.)
    /// Gains and slowdowns count against the study's figures in any case, as the measured ones do.
    ///
    /// # Errors
    /// Workloads that the catalogue lacks, and parameters that cannot be used.
    pub fn new(data: &'a StudyData, settings: &Settings) -> Result<Self> {
        let mut settings = settings.clone();
        settings.cluster.servers.truncate(1);
        settings.cluster.servers[0].gpus.truncate(1);
        let policy = PolicySpec::from(PolicyKind::Aegis);
        let mut params = settings.params(&policy)?;
        params.tick_s = RETRY_S;
        // All sequences fit, and the study looked at pressure alone. Runtime factors are in the durations.
        params.memory_floor_mib = 0.0;
        params.memory_guard_mib = 0.0;
        params.memory_guard_fraction = 0.0;
        params.runtime_factors = false;
        let world = |sequence| settings.world(&trace(sequence, &data.jobs_source, &settings));
        let worlds = data.sequences.iter().map(world).collect::<Result<_>>()?;
        Ok(StudyReplay { data, worlds, params, policy })
    }

    /// Replays the settings for which `keep` holds, by their index, with seeds 1, 2, ..., in parallel.
    ///
    /// # Errors
    /// Parameters that do not fit the cluster.
    pub fn runs(&self, seeds: u64, keep: impl Fn(usize) -> bool) -> Result<StudyRuns<'a>> {
        let kept: Vec<&StudySetting> =
            self.data.settings.iter().enumerate().filter(|(index, _)| keep(*index)).map(|(_, s)| s).collect();
        let settings = kept
            .par_iter()
            .map(|&setting| {
                let of_seed = |seed| {
                    (0..self.worlds.len())
                        .map(|sequence| {
                            let run = |blind| self.sequence(sequence, setting.thresholds, blind, seed);
                            Ok([run(BlindGpu::None)?, run(BlindGpu::Index(0))?])
                        })
                        .collect::<Result<SeedRuns>>()
                };
                Ok((setting, (1..=seeds).map(of_seed).collect::<Result<Vec<SeedRuns>>>()?))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(StudyRuns { settings })
    }

    fn sequence(
        &self,
        index: usize,
        thresholds: [f64; 3],
        telemetry_blind_gpu: BlindGpu,
        seed: u64,
    ) -> Result<SequenceFigures> {
        let mut params = Params { telemetry_blind_gpu, ..self.params.clone() };
        [params.smact_threshold, params.smocc_threshold, params.drama_threshold] = thresholds;
        let record = simulate(&self.worlds[index], &self.policy, &params, seed, &mut NoObserver)?;
        Ok(figures(&record, &self.data.sequences[index], &params))
    }
}

impl StudyRuns<'_> {
    /// What to expect where the counters failed during a share of the sequences, at random.
    pub fn study(&self, blind_share: f64) -> ThresholdStudy {
        let result = |(setting, seeds): &(&StudySetting, Vec<SeedRuns>)| {
            let over_seeds =
                |figure: &dyn Fn(&SeedRuns) -> f64| mean(&seeds.iter().map(figure).collect::<Vec<_>>());
            let expected = |runs: &SeedRuns, figure: fn(&SequenceFigures) -> f64| -> f64 {
                let mixed = |[sound, blind]: &[SequenceFigures; 2]| {
                    (1.0 - blind_share) * figure(sound) + blind_share * figure(blind)
                };
                runs.iter().map(mixed).sum()
            };
            let count = seeds.first().map_or(0, |runs| runs.len()) as f64;
            SettingResult {
                thresholds: setting.thresholds,
                measured: setting.measured,
                simulated: StudyFigures {
                    throughput_gain: over_seeds(&|runs| expected(runs, |run| run.throughput_gain)) / count,
                    slowdown_mean: over_seeds(&|runs| expected(runs, |run| run.slowdown_mean)) / count,
                    slowdown_worst: over_seeds(&|runs| expected_worst(runs, blind_share)),
                    deferrals: over_seeds(&|runs| expected(runs, |run| run.deferrals)),
                },
            }
        };
        ThresholdStudy { settings: self.settings.iter().map(result).collect() }
    }

    /// The share of blind sequences that explains gain and worst slowdown best, in steps of 0.05.
    pub fn blind_share(&self) -> f64 {
        let shares = (0..=20).map(|step| f64::from(step) / 20.0);
        let scored = shares.map(|share| (self.study(share).score(), share));
        scored.reduce(|best, next| if next.0 < best.0 { next } else { best }).map_or(0.0, |best| best.1)
    }
}

/// Expected maximum over sequences of which each is blind with the same probability.
fn expected_worst(runs: &SeedRuns, blind_share: f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().flatten().map(|run| run.slowdown_max).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (mut expected, mut below) = (0.0, 0.0);
    for value in values {
        let at_most = |[sound, blind]: &[SequenceFigures; 2]| {
            let counts =
                |run: &SequenceFigures, share: f64| if run.slowdown_max <= value { share } else { 0.0 };
            counts(sound, 1.0 - blind_share) + counts(blind, blind_share)
        };
        let probability: f64 = runs.iter().map(at_most).product();
        expected += value * (probability - below);
        below = probability;
    }
    expected
}

fn trace(sequence: &StudySequence, source: &str, settings: &Settings) -> Trace {
    let jobs = sequence.jobs.iter().enumerate().map(|(index, job)| {
        let factor = settings.model.runtime_factors.get(&job.workload).copied().unwrap_or(1.0);
        let full = settings.catalogue.get(&job.workload).filter(|_| !job.cut);
        let full_s = full.map(|workload| workload.solo_runtime_s * factor);
        TraceJob {
            job_id: (index + 1).to_string(),
            submit_s: 0.0,
            workload: job.workload.clone(),
            gpus: 1,
            duration_s: Some(full_s.unwrap_or(job.solo_runtime_s)),
            line: job.line,
            ..TraceJob::default()
        }
    });
    Trace { name: sequence.name.clone(), source: source.to_owned(), jobs: jobs.collect(), notes: Vec::new() }
}

fn figures(record: &RunRecord, sequence: &StudySequence, params: &Params) -> SequenceFigures {
    let slowdowns: Vec<f64> = record
        .jobs
        .iter()
        .zip(&sequence.jobs)
        .map(|(job, study)| job.execution_time_s() / study.solo_runtime_s)
        .collect();
    let start = record.attempts.iter().map(|attempt| attempt.launch).min().unwrap_or(record.start);
    let solo_s: f64 = sequence.jobs.iter().map(|job| job.solo_runtime_s).sum();
    SequenceFigures {
        throughput_gain: solo_s / (record.end - start).as_s(),
        slowdown_mean: mean(&slowdowns),
        slowdown_max: slowdowns.iter().copied().fold(0.0, f64::max),
        deferrals: deferrals(record, params),
    }
}

/// Refused looks at the gate. The engine leaves out looks that cannot see anything new, so they follow from
/// how long each job was kept waiting after the one before had been watched.
fn deferrals(record: &RunRecord, params: &Params) -> f64 {
    let watched_s = params.detection_lag_s + params.observation_window_s;
    let refused = record.attempts.windows(2).map(|pair| {
        let watched = pair[0].first_activity.unwrap_or(pair[0].end).as_s() + watched_s;
        ((pair[1].dispatch.as_s() - watched) / params.tick_s).floor().max(0.0)
    });
    refused.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Pressure;

    const SETTINGS: &str = "smact_threshold,smocc_threshold,drama_threshold,throughput_gain_mean,slowdown_mean,\
                            slowdown_worst,deferrals\n\
                            1,1,1,2,1.5,2,0\n0.3,0.1,0.1,1.2,1,1,350\n0,0,0,1,1,1,400\n";
    const JOBS: &str = "sequence,position,workload,variant,solo_runtime_s\n\
                        a,1,unet_voc_1gpu,short,300\na,2,unet_voc_1gpu,short,300\na,3,unet_voc_1gpu,short,300\n";

    fn data() -> StudyData {
        StudyData::parse(("s.csv", SETTINGS.as_bytes()), ("j.csv", JOBS.as_bytes())).unwrap()
    }

    fn settings() -> Settings {
        Settings { assignments: vec!["noise=false".to_owned()], ..Settings::default() }
    }

    #[test]
    fn an_open_gate_starts_jobs_half_a_minute_apart() {
        let data = data();
        let replay = StudyReplay::new(&data, &settings()).unwrap();
        let params = Params { pressure: Pressure::None, ..replay.params.clone() };
        let record = simulate(&replay.worlds[0], &replay.policy, &params, 1, &mut NoObserver).unwrap();
        for pair in record.attempts.windows(2) {
            let watched_s = (pair[1].dispatch - pair[0].first_activity.unwrap()).as_s();
            assert!((30.0..30.1 + RETRY_S).contains(&watched_s), "{watched_s}");
        }
        let open = figures(&record, &data.sequences[0], &params);
        assert_eq!(open.deferrals, 0.0);
        assert!(open.throughput_gain > 1.2 && open.slowdown_max > 1.2, "{open:?}");
    }

    #[test]
    fn a_closed_gate_runs_one_job_after_the_other_unless_counters_fail() {
        let data = data();
        let replay = StudyReplay::new(&data, &settings()).unwrap();
        let closed = replay.sequence(0, [0.0; 3], BlindGpu::None, 1).unwrap();
        assert!((closed.slowdown_mean - 1.0).abs() < 1e-6 && (closed.slowdown_max - 1.0).abs() < 1e-6);
        assert!((0.98..=1.0).contains(&closed.throughput_gain), "{}", closed.throughput_gain);
        // From the end of the 30 s to the end of the job, twice.
        let startup_s = settings().catalogue.get("unet_voc_1gpu").unwrap().startup_s;
        let expected = 2.0 * (300.0 - startup_s - 30.0) / RETRY_S;
        assert!((closed.deferrals - expected).abs() <= 4.0, "{} {expected}", closed.deferrals);

        let sound = replay.sequence(0, [0.3, 0.1, 0.1], BlindGpu::None, 1).unwrap();
        let blind = replay.sequence(0, [0.3, 0.1, 0.1], BlindGpu::Index(0), 1).unwrap();
        assert!(sound.deferrals > 100.0 && blind.deferrals == 0.0);
    }

    #[test]
    fn figures_are_those_expected_of_mixed_runs() {
        let run = |gain: f64, worst: f64| SequenceFigures {
            throughput_gain: gain,
            slowdown_mean: 1.0,
            slowdown_max: worst,
            deferrals: 10.0 * gain,
        };
        let data = data();
        let seeds = vec![vec![[run(1.0, 1.0), run(2.0, 3.0)], [run(3.0, 2.0), run(3.0, 2.0)]]];
        let runs = StudyRuns { settings: vec![(&data.settings[0], seeds)] };
        let simulated = |share| runs.study(share).settings[0].simulated;
        assert_eq!((simulated(0.0).throughput_gain, simulated(0.0).slowdown_worst), (2.0, 2.0));
        let half = simulated(0.5);
        assert_eq!((half.throughput_gain, half.slowdown_worst, half.deferrals), (2.25, 2.5, 45.0));
    }
}
