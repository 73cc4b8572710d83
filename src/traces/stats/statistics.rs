use std::collections::BTreeSet;

use serde_json::Value;

use super::describe::{Description, GANG_BINS};
use crate::metrics::{mean, quantile_of_sorted};

/// A figure of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistic {
    /// For programs, with its unit.
    pub name: String,
    /// For people.
    pub label: String,
    /// Null where a trace has none.
    pub value: Value,
}

impl Statistic {
    pub(super) fn new(
        name: impl Into<String>,
        label: impl Into<String>,
        value: impl Into<Value>,
    ) -> Statistic {
        Statistic { name: name.into(), label: label.into(), value: value.into() }
    }
}

/// The statistics of traces: all have the same, in the same order.
pub fn statistics(descriptions: &[Description]) -> Vec<Vec<Statistic>> {
    // Where no trace says how a job ended, none is asked.
    let states: BTreeSet<&str> =
        descriptions.iter().flat_map(|description| description.states.keys().map(String::as_str)).collect();
    let states = if states.iter().all(|state| state.is_empty()) { BTreeSet::new() } else { states };
    descriptions.iter().map(|description| description.statistics(&states)).collect()
}

impl Description {
    fn statistics(&self, states: &BTreeSet<&str>) -> Vec<Statistic> {
        let mut all = vec![
            Statistic::new("jobs", "jobs", self.jobs),
            Statistic::new("users", "users", self.users),
            Statistic::new("vcs", "virtual clusters", self.vcs),
            Statistic::new("workloads", "workloads", self.workloads),
            Statistic::new("unmapped_jobs", "jobs without a workload", self.unmapped),
        ];
        for state in states {
            let (name, label) = match *state {
                "" => ("state_unknown_jobs".to_owned(), "jobs whose end is not known".to_owned()),
                state => (format!("state_{state}_jobs"), format!("jobs {state}")),
            };
            all.push(Statistic::new(name, label, self.states.get(*state).copied().unwrap_or(0)));
        }
        let span_s = self.span_s();
        let (gaps, durations, service) = (&self.inter_arrivals_s, &self.durations_s, &self.service_gpu_s);
        let zeros = |sorted: &[f64]| sorted.partition_point(|value| *value == 0.0);
        all.push(Statistic::new("first_submit_s", "first submission [s]", self.first_submit_s));
        all.push(Statistic::new("span_s", "first to last submission [s]", span_s));
        all.extend(distribution("inter_arrival", "inter-arrival time", "s", gaps));
        let zero_fraction = zeros(gaps) as f64 / gaps.len() as f64;
        all.push(Statistic::new(
            "inter_arrival_zero_fraction",
            "inter-arrivals of 0 s [fraction]",
            zero_fraction,
        ));
        all.push(Statistic::new(
            "inter_arrival_cv",
            "inter-arrivals, coefficient of variation",
            variation(gaps),
        ));
        // One job, or all at once, has no rate.
        let per_hour = if span_s > 0.0 { self.jobs as f64 / (span_s / 3600.0) } else { f64::NAN };
        all.push(Statistic::new("submissions_per_hour_mean", "submissions per hour, mean", per_hour));
        all.push(Statistic::new(
            "submissions_per_hour_peak",
            "submissions per hour, peak",
            self.peak_per_hour,
        ));
        all.extend(distribution("duration", "duration", "s", durations));
        all.push(Statistic::new("duration_zero_jobs", "jobs of 0 s", zeros(durations)));
        all.push(Statistic::new(
            "duration_catalogue_jobs",
            "jobs with their workload's runtime",
            self.catalogue_durations,
        ));
        all.push(Statistic::new("duration_unknown_jobs", "jobs of unknown duration", self.unknown_durations));
        let gangs = || self.gangs.iter().map(|(&gpus, &(jobs, _))| f64::from(gpus) * jobs as f64);
        all.push(Statistic::new("gpus_mean", "GPUs per job, mean", gangs().sum::<f64>() / self.jobs as f64));
        all.push(Statistic::new("gpus_max", "GPUs per job, max", self.gangs.keys().last().copied()));
        let shares = self.gang_shares();
        let of = [("jobs", "jobs"), ("service", "GPU service")];
        for ((of_name, of_label), shares) in of.into_iter().zip(shares) {
            for ((name, heading, _), share) in GANG_BINS.iter().zip(shares) {
                let label = format!("{of_label} on {heading} GPUs [fraction]").replace(" 1 GPUs", " 1 GPU");
                all.push(Statistic::new(format!("gpus_{name}_{of_name}_fraction"), label, share));
            }
        }
        all.push(Statistic::new("gpu_share_jobs", "jobs on a share of a GPU", self.shares.len()));
        all.push(Statistic::new("gpu_share_mean", "share of a GPU of these, mean", mean(&self.shares)));
        all.extend(distribution("gpu_service", "GPU service", "gpu_s", service));
        let total = |value: f64| if service.is_empty() { f64::NAN } else { value };
        let total_gpu_s = total(service.iter().sum());
        all.push(Statistic::new("gpu_service_total_gpu_s", "GPU service, total [GPU s]", total_gpu_s));
        let offered = if span_s > 0.0 { total_gpu_s / span_s } else { f64::NAN };
        all.push(Statistic::new("offered_gpus", "GPU service over span [GPUs]", offered));
        all.push(Statistic::new(
            "gpu_demand_peak",
            "GPUs in use if no job waited, peak",
            total(self.peak_demand),
        ));
        if let Some(offer) = &self.offer {
            all.push(Statistic::new("cluster_gpus", "GPUs of the cluster", offer.gpus));
            all.push(Statistic::new(
                "offered_load",
                "offered load [fraction of GPUs]",
                offered / offer.gpus as f64,
            ));
            let above = offer.above_largest_server;
            all.push(Statistic::new("jobs_above_largest_server", "jobs larger than any server", above));
            all.push(Statistic::new(
                "jobs_above_cluster",
                "jobs larger than the cluster",
                offer.above_cluster,
            ));
            let beyond = (!service.is_empty()).then_some(offer.beyond);
            all.push(Statistic::new(
                "jobs_beyond_capacity",
                "jobs submitted beyond all GPUs if no job waited",
                beyond,
            ));
        }
        all
    }
}

fn distribution(name: &str, label: &str, unit: &str, sorted: &[f64]) -> [Statistic; 6] {
    let values = [
        ("min", sorted.first().copied().unwrap_or(f64::NAN)),
        ("p50", quantile_of_sorted(sorted, 0.50)),
        ("p95", quantile_of_sorted(sorted, 0.95)),
        ("p99", quantile_of_sorted(sorted, 0.99)),
        ("max", sorted.last().copied().unwrap_or(f64::NAN)),
        ("mean", mean(sorted)),
    ];
    let shown = if unit == "s" { "s" } else { "GPU s" };
    values.map(|(of, value)| {
        Statistic::new(format!("{name}_{of}_{unit}"), format!("{label}, {of} [{shown}]"), value)
    })
}

/// Standard deviation over mean: 1 for a Poisson process, more for bursts.
fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let variance =
        values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
    variance.sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterSpec;
    use crate::workload::{Catalogue, Trace};

    fn trace(lines: &str) -> Trace {
        let text = format!("job_id,submit_s,workload,gpus,duration_s,gpu_share,user,vc,state\n{lines}");
        Trace::parse("t", "t.csv", text.as_bytes()).unwrap()
    }

    fn value(description: &Description, name: &str) -> Value {
        let all = statistics(std::slice::from_ref(description)).remove(0);
        all.into_iter().find(|stat| stat.name == name).unwrap_or_else(|| panic!("no {name}")).value
    }

    #[test]
    fn figures_are_those_of_a_trace_worked_out_by_hand() {
        let trace = trace(
            "a,100,,1,60,,u,p,completed\nb,100,,4,100,,v,p,failed\nc,140,,1,0,,u,q,\nd,7300,,20,10,,,,failed\n\
             e,7300,,1,40,0.5,u,,completed\nf,7310,mnist_bs32_1gpu,1,,,,,\ng,7310,mnist_bs32_1gpu,2,,,,,\n",
        );
        let catalogue = Catalogue::builtin();
        let description = Description::of(&trace, &catalogue, Some(&ClusterSpec::builtin()));
        let alone_s = catalogue.get("mnist_bs32_1gpu").unwrap().solo_runtime_s;
        let total_gpu_s = 60.0 + 400.0 + 200.0 + 20.0 + alone_s;
        let expected: Vec<(&str, Value)> = vec![
            ("jobs", 7.into()),
            ("users", 2.into()),
            ("vcs", 2.into()),
            ("workloads", 1.into()),
            ("unmapped_jobs", 5.into()),
            ("state_completed_jobs", 2.into()),
            ("state_failed_jobs", 2.into()),
            ("state_unknown_jobs", 3.into()),
            ("first_submit_s", 100.0.into()),
            ("span_s", 7210.0.into()),
            // 0, 40, 7160, 0, 10, 0
            ("inter_arrival_min_s", 0.0.into()),
            ("inter_arrival_p50_s", 5.0.into()),
            ("inter_arrival_max_s", 7160.0.into()),
            ("inter_arrival_zero_fraction", 0.5.into()),
            ("submissions_per_hour_mean", (7.0 / (7210.0 / 3600.0)).into()),
            ("submissions_per_hour_peak", 4.into()),
            ("duration_zero_jobs", 1.into()),
            ("duration_catalogue_jobs", 1.into()),
            ("duration_unknown_jobs", 1.into()),
            ("gpus_max", 20.into()),
            ("gpus_1_jobs_fraction", (4.0 / 7.0).into()),
            ("gpus_3_to_4_jobs_fraction", (1.0 / 7.0).into()),
            ("gpus_5_to_8_jobs_fraction", 0.0.into()),
            ("gpus_17_up_service_fraction", (200.0 / total_gpu_s).into()),
            ("gpu_share_jobs", 1.into()),
            ("gpu_share_mean", 0.5.into()),
            ("gpu_service_total_gpu_s", total_gpu_s.into()),
            ("offered_load", (total_gpu_s / 7210.0 / 3.0).into()),
            // 20 and 0.5, 10 s before the last job.
            ("gpu_demand_peak", 20.5.into()),
            ("jobs_above_largest_server", 2.into()),
            ("jobs_above_cluster", 2.into()),
            // b beside a, d, and e beside d.
            ("jobs_beyond_capacity", 3.into()),
        ];
        for (name, expected) in expected {
            let found = value(&description, name);
            match (found.as_f64(), expected.as_f64()) {
                // Sums depend on their order in the last digits.
                (Some(a), Some(b)) if found.is_f64() => {
                    assert!((a - b).abs() <= 1e-12 * b.abs(), "{name}: {a} {b}")
                }
                _ => assert_eq!(found, expected, "{name}"),
            }
        }
    }

    #[test]
    fn what_a_trace_does_not_have_is_null() {
        let one = Description::of(&trace("a,5,,1,,,,,\n"), &Catalogue::builtin(), None);
        for name in
            ["inter_arrival_p50_s", "submissions_per_hour_mean", "duration_mean_s", "gpu_service_total_gpu_s"]
        {
            assert_eq!(value(&one, name), Value::Null, "{name}");
        }
        let names: Vec<String> = statistics(&[one]).remove(0).into_iter().map(|stat| stat.name).collect();
        assert!(!names.iter().any(|name| name.starts_with("state_") || name == "offered_load"));
    }

    #[test]
    fn equal_gaps_vary_by_nothing_and_exponential_ones_by_their_mean() {
        assert_eq!(variation(&[3.0; 5]), 0.0);
        let exponential: Vec<f64> =
            (0..10_000).map(|i| -libm::log((f64::from(i) + 0.5) / 10_000.0)).collect();
        assert!((variation(&exponential) - 1.0).abs() < 0.01);
    }
}
