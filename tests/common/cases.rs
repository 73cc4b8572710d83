use aegis_sim::cluster::ClusterSpec;
use aegis_sim::model::Model;
use aegis_sim::policy::{Params, PolicySpec, resolve_params};
use aegis_sim::sim::{Observer, RunRecord, World, simulate};
use aegis_sim::workload::{Catalogue, Trace};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

/// A run as a user would describe it, in text.
#[derive(Clone)]
pub struct Case {
    pub catalogue: String,
    pub trace: String,
    pub cluster: String,
    pub model: String,
    pub policy: String,
    pub settings: Vec<String>,
    pub seed: u64,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} seed {} {:?}", self.policy, self.seed, self.settings)?;
        write!(f, "{}\n{}\n{}\n{}", self.catalogue, self.trace, self.cluster, self.model)
    }
}

impl Case {
    pub fn world(&self) -> World {
        let trace = Trace::parse("t", "t.csv", self.trace.as_bytes()).unwrap();
        let catalogue = Catalogue::parse("w.csv", self.catalogue.as_bytes()).unwrap();
        let cluster = ClusterSpec::parse("c.toml", &self.cluster).unwrap();
        let mut model = Model::builtin();
        model.override_with("m.toml", &self.model).unwrap();
        World::new(&trace, catalogue, cluster, model).unwrap()
    }

    pub fn policy(&self) -> PolicySpec {
        self.policy.parse().unwrap()
    }

    pub fn params(&self) -> Params {
        resolve_params(&self.policy(), &[], &self.settings).unwrap()
    }

    pub fn run(&self, observer: &mut dyn Observer) -> RunRecord {
        simulate(&self.world(), &self.policy(), &self.params(), self.seed, observer).unwrap()
    }
}

/// How large cases get.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub jobs: usize,
    pub runtime_s: u32,
    /// Odds of switching run-to-run noise and runtime factors on.
    pub noise: f64,
}

const CATALOGUE: &str = "workload,gpu_rank,gpus,solo_runtime_s,startup_s,peak_memory_mib,initial_memory_mib,\
     memory_growth_s,smact_mean,smact_median,smact_p95,smact_max,smocc_mean,smocc_median,smocc_p95,smocc_max,\
     drama_mean,drama_median,drama_p95,drama_max,gpu_util_mean,closing_s,horus_estimate_mib,faketensor_estimate_mib,\
     gpumemnet_estimate_mib,lucid_sharing_score\n";

/// A random run: any policy, cluster, catalogue, trace and parameters.
pub fn any_case(shape: Shape) -> impl Strategy<Value = Case> {
    let text = (vec(workload(), 1..5), vec(server(), 1..3), vec(job(shape), 1..=shape.jobs));
    let drawn = (policy(), settings(shape), model(), select(&[0u64, 0, 1, 2, 77][..]));
    (text, drawn, prop::array::uniform4(prop::bool::weighted(0.3))).prop_map(
        |((workloads, servers, jobs), (policy, settings, model, seed), uncounted)| {
            let catalogue: String = workloads
                .iter()
                .enumerate()
                .map(|(i, workload)| {
                    let text = workload.replace("@", &i.to_string());
                    if uncounted[i] && !reads_counters(&policy) { without_counters(&text) } else { text }
                })
                .collect();
            let largest = servers.iter().map(|(gpus, _)| *gpus).max().unwrap_or(1);
            let cluster = servers.iter().enumerate().map(|(i, (_, toml))| {
                // A speed for a workload that this catalogue lacks would be refused.
                let known = |line: &&str| {
                    let named =
                        line.strip_prefix("workload_speed = { w").and_then(|rest| rest.split(' ').next());
                    named.is_none_or(|name| name.parse::<usize>().unwrap() < workloads.len())
                };
                let lines: Vec<&str> = toml.lines().filter(known).collect();
                lines.join("\n").replace('@', &i.to_string()) + "\n"
            });
            let mut submit_us = 0;
            let mut trace = String::from("job_id,submit_s,workload,gpus,duration_s\n");
            for (id, job) in jobs.iter().enumerate() {
                submit_us += job.gap_us;
                let (workload, gpus) = (job.workload % workloads.len(), job.gpus.min(largest));
                let (submit_s, duration_s) = (seconds(submit_us), seconds(job.duration_us));
                trace += &format!("{id},{submit_s},w{workload},{gpus},{duration_s}\n");
            }
            Case {
                catalogue: format!("{CATALOGUE}{catalogue}"),
                trace,
                cluster: format!("schema_version = 1\n{}", cluster.collect::<String>()),
                model,
                policy,
                settings,
                seed,
            }
        },
    )
}

/// Whether a policy is refused where SMACT, SMOCC or DRAMA is not known.
fn reads_counters(policy: &str) -> bool {
    let filters = !["+rr", "+smi", "+no-thresholds"].iter().any(|part| policy.contains(part));
    let orders = policy.contains("+lug") && !policy.contains("+smi");
    policy.starts_with("aegis") && (filters || orders)
}

/// The lines of a workload of which only GPU utilisation is known.
fn without_counters(lines: &str) -> String {
    let counters = 8..20;
    let blank =
        |(i, field): (usize, &str)| if counters.contains(&i) { String::new() } else { field.to_owned() };
    let line = |line: &str| line.split(',').enumerate().map(blank).collect::<Vec<_>>().join(",") + "\n";
    lines.lines().map(line).collect()
}

#[derive(Debug)]
struct Job {
    gap_us: i64,
    workload: usize,
    gpus: usize,
    duration_us: i64,
}

fn seconds(us: i64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// Times that meet others exactly (whole seconds and tenths) and times that do not.
fn time_us(most_s: u32) -> impl Strategy<Value = i64> {
    let most = i64::from(most_s);
    prop_oneof![
        2 => (0..=most).prop_map(|s| s * 1_000_000),
        3 => (0..=most * 10).prop_map(|tenths| tenths * 100_000),
        2 => 0..=most * 1_000_000,
    ]
}

fn job(shape: Shape) -> impl Strategy<Value = Job> {
    let gap = prop_oneof![2 => Just(0), 5 => time_us(8), 1 => time_us(60)];
    (gap, 0usize..5, select(&[1usize, 1, 1, 2, 2, 3][..]), time_us(shape.runtime_s))
        .prop_map(|(gap_us, workload, gpus, duration_us)| Job { gap_us, workload, gpus, duration_us })
}

/// Mean, median, p95 and max of a metric.
fn activity(most: u32) -> impl Strategy<Value = String> {
    let unsteady = vec(0..=most, 4).prop_map(|mut parts| {
        parts.sort_unstable();
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| f64::from(parts[i]) / 97.0);
        format!("{},{b},{c},{d}", (a + b + c + d) / 4.0)
    });
    let steady = (0..=most).prop_map(|level| format!("{},,,", f64::from(level) / 97.0));
    prop_oneof![unsteady, steady]
}

/// The columns of one rank, from peak memory to utilisation.
fn profile() -> impl Strategy<Value = String> {
    // Quarters and sixty-fourths: sums of them are exact, and so are ties.
    let peak =
        prop_oneof![3 => 2u32..40, 4 => 20u32..80, 1 => 80u32..170].prop_map(|quarters| quarters * 250);
    let growth = weighted(0.25, (0.1..0.95f64, time_us(15)));
    (peak, growth, activity(95), activity(60), activity(80), 1u32..=64, weighted(0.4, time_us(9))).prop_map(
        |(peak, growth, smact, smocc, drama, util, closing)| {
            let growth = growth.map_or(",".into(), |(share, us)| {
                format!("{},{}", (f64::from(peak) * share).round(), seconds(us))
            });
            let closing = closing.map_or(String::new(), seconds);
            format!("{peak},{growth},{smact},{smocc},{drama},{},{closing}", f64::from(util) / 64.0)
        },
    )
}

fn workload() -> impl Strategy<Value = String> {
    let idle_rank = Just("428,,,0,,,,0,,,,0,,,,0,".to_owned());
    let second = weighted(0.4, prop_oneof![profile(), idle_rank]);
    let estimate =
        || weighted(0.8, 500u32..40_000).prop_map(|mib| mib.map_or(String::new(), |m| m.to_string()));
    let score = weighted(0.9, 0u32..=2).prop_map(|score| score.map_or(String::new(), |s| s.to_string()));
    let rest = (estimate(), estimate(), estimate(), score)
        .prop_map(|(horus, fake, net, score)| format!("{horus},{fake},{net},{score}"));
    let startup = prop_oneof![1 => Just(0), 4 => time_us(8)].prop_map(seconds);
    (startup, profile(), second, rest).prop_map(|(startup, first, second, rest)| {
        let mut text = format!("w@,0,2,60,{startup},{first},{rest}\n");
        if let Some(second) = second {
            text += &format!("w@,1,2,60,{startup},{second},{rest}\n");
        }
        text
    })
}

fn speed() -> impl Strategy<Value = f64> {
    select(&[1.0, 1.0, 0.5, 0.8, 1.25][..])
}

/// The number of GPUs and the TOML of a server.
fn server() -> impl Strategy<Value = (usize, String)> {
    let gpu = (
        select(&[40960u32, 40960, 24576, 16384][..]),
        0u32..600,
        speed(),
        weighted(0.3, (0usize..3, speed())),
    );
    (vec(gpu, 1..=3), any::<bool>()).prop_map(|(gpus, alike)| {
        let mut toml = String::from("[[server]]\nname = \"s@\"\n");
        for i in 0..gpus.len() {
            let (memory, kept, speed, of_workload) = gpus[if alike { 0 } else { i }];
            toml += &format!(
                "[[server.gpu]]\nmodel = \"m\"\nmemory_mib = {memory}\nallocatable_mib = {}\nspeed = {speed:?}\n",
                memory - kept
            );
            if let Some((workload, speed)) = of_workload {
                toml += &format!("workload_speed = {{ w{workload} = {speed:?} }}\n");
            }
        }
        (gpus.len(), toml)
    })
}

fn policy() -> impl Strategy<Value = String> {
    let aegis: Vec<String> =
        super::all_policies().into_iter().filter(|policy| policy.starts_with("aegis")).collect();
    prop_oneof![
        1 => Just("exclusive".to_owned()),
        2 => Just("horus".to_owned()),
        2 => Just("lucid".to_owned()),
        5 => select(aegis),
    ]
}

fn model() -> impl Strategy<Value = String> {
    (
        (select(&[1.0, 4.0, 15.0][..]), select(&[2.0, 15.0][..]), select(&[0.0, 0.3, 1.0][..])),
        select(&["sum", "union"][..]),
        select(&[0.0, 0.5, 1.8, 2.0][..]),
        select(&["cached", "required"][..]),
        select(&[0.0, 0.06, 0.3][..]),
        select(&[0.3, 0.8, 2.0][..]),
        noise(),
        pair_factors(),
    )
        .prop_map(|((dwell, bursty, closing), combination, oom_exit, growth, elastic, capacity, noise, factors)| {
            format!(
                "schema_version = 1\n[telemetry]\ndwell_s = {dwell:?}\nbursty_dwell_s = {bursty:?}\n\
                 closing_activity = {closing:?}\ncombination = \"{combination}\"\n\
                 gpu_util_combination = \"presence\"\n[memory]\noom_exit_s = {oom_exit:?}\n\
                 growth = \"{growth}\"\nelastic_fraction = {elastic:?}\n\
                 [interference]\nbase = 0.117\nmemory_slope = 2.682\nmemory_unit_mib = 40960.0\ntraffic = 0.7\ncapacity = {capacity:?}\n\
                 [interference.gpu_utilization]\nbase = 0.2\nmemory_slope = 1.5\n\
                 {factors}{noise}[runtime_factors]\nw0 = 1.1\nw1 = 0.9\n"
            )
        })
}

/// The spreads of runtimes, start-ups and pressures.
fn noise() -> impl Strategy<Value = String> {
    let sigma = || select(&[0.0, 0.01, 0.1, 0.5][..]);
    [sigma(), sigma(), sigma(), sigma(), sigma()].prop_map(
        |[gpu, host, startup, interference, extrapolation]| {
            format!(
                "[noise]\ngpu_sigma = {gpu:?}\nhost_sigma = {host:?}\nstartup_sigma = {startup:?}\n\
             interference_sigma = {interference:?}\nextrapolation_sigma = {extrapolation:?}\n"
            )
        },
    )
}

/// Of the first workload and of the second, by either form of the pressure.
fn pair_factors() -> impl Strategy<Value = String> {
    let of = |section: &'static str| {
        weighted(0.3, (select(&[0.5, 1.0, 1.25][..]), select(&[0.5, 1.0, 1.25][..]))).prop_map(
            move |factors| {
                factors.map_or(String::new(), |(aggressor, sensitivity)| {
                    format!("[{section}]\naggressor = {aggressor:?}\nsensitivity = {sensitivity:?}\n")
                })
            },
        )
    };
    [
        of("interference.factors.w0"),
        of("interference.factors.w1"),
        of("interference.gpu_utilization.factors.w0"),
        of("interference.gpu_utilization.factors.w1"),
    ]
    .prop_map(|sections| sections.concat())
}

fn settings(shape: Shape) -> impl Strategy<Value = Vec<String>> {
    let of = |key: &'static str, values: &'static [&'static str]| {
        select(values).prop_map(move |value| format!("{key}={value}"))
    };
    let sometimes = move |key, values| weighted(0.4, of(key, values));
    let timing = (
        of("tick_s", &["0", "0", "0.1", "0.3", "0.7", "1", "1", "2", "2", "3", "3.5"]),
        of("detection_lag_s", &["0", "0.2", "1.3"]),
        of("dispatch_lag_s", &["0", "0.03", "1"]),
        of("observation_window_s", &["0", "2", "3.7", "10", "30"]),
        of("observation_anchor", &["activity", "activity", "launch", "none"]),
        of("recovery", &["idle", "floors"]),
        of("telemetry_samples", &["1", "4", "10", "30"]),
        of("interference_strength", &["0", "1", "1", "1.5"]),
    );
    let filters = (
        sometimes("telemetry_blind_gpu", &["0", "seeded"]),
        sometimes("smact_threshold", &["0", "0.2", "0.4"]),
        sometimes("smocc_threshold", &["0.05", "0.15", "1"]),
        sometimes("drama_threshold", &["0.1", "0.3", "1"]),
        sometimes("memory_floor_mib", &["0", "2000", "12000"]),
        sometimes("memory_guard_fraction", &["0", "0.05"]),
        sometimes("recovery_bucket_step_mib", &["1000", "3000"]),
        sometimes("horus_utilization_cap", &["0.5", "1.5"]),
        sometimes("gpu_util_threshold", &["0.2", "0.6"]),
    );
    let rest = (
        sometimes("horus_needs_estimate", &["false"]),
        sometimes("lucid_max_jobs", &["1", "3"]),
        sometimes("lucid_max_score", &["1", "4"]),
        sometimes("lucid_memory_margin_mib", &["0", "4000"]),
        any::<bool>(),
        prop::bool::weighted(shape.noise),
    );
    (timing, filters, rest).prop_map(|(timing, filters, rest)| {
        let (tick, detect, lag, window, anchor, recovery, samples, strength) = timing;
        let (blind, smact, smocc, drama, floor, guard, bucket, cap, util) = filters;
        let (needs, most_jobs, most_score, margin, factors, noise) = rest;
        let mut settings = vec![tick, detect, lag, window, anchor, recovery, samples, strength];
        let optional = [
            blind, smact, smocc, drama, floor, guard, bucket, cap, util, needs, most_jobs, most_score, margin,
        ];
        settings.extend(optional.into_iter().flatten());
        settings.push(format!("noise={noise}"));
        settings.push(format!("runtime_factors={}", factors && noise));
        settings
    })
}
