//! What was mapped and how well it fits, for reading and for programs.

use serde_json::{Value, json};

use crate::error::{Result, input_error};
use crate::report::{Format, Row, SCHEMA_VERSION, row, rows_to_csv, rows_to_table};
use crate::traces::map::{COMPONENTS, Mapped, Quality, Request, Statistics, Window};
use crate::workload::{Catalogue, Trace};

pub(super) struct Document<'a> {
    pub trace: &'a Trace,
    pub catalogue: &'a Catalogue,
    pub request: &'a Request,
    pub mapped: &'a Mapped,
}

const DISTANCES: [(&str, &str); 4] = [
    ("component", "window against whole"),
    ("weight", "weight"),
    ("distance", "distance"),
    ("weighted", "weighted"),
];
const FIGURES: [(&str, &str); 3] =
    [("figure", "figure"), ("window", "window"), ("eligible", "eligible jobs")];
const WHOLE_FIGURES: [(&str, &str); 2] = [("figure", "figure"), ("eligible", "jobs")];
const MAPPING: [(&str, &str); 8] = [
    ("gpus", "GPUs of workloads"),
    ("jobs", "jobs"),
    ("jobs_of_other_counts", "of other GPU counts"),
    ("workloads", "workloads"),
    ("distinct_workloads", "taken"),
    ("most_jobs_per_workload", "most jobs of one"),
    ("quantile_distance_mean", "quantile distance"),
    ("quantile_distance_max", "at most"),
];

impl Document<'_> {
    pub fn render(&self, format: Format) -> Result<String> {
        match format {
            Format::Json => self.json(),
            Format::Csv => rows_to_csv(&self.long()),
            Format::Table | Format::Markdown => {
                let mapping = rows_to_table(format, &self.mapping(), &MAPPING);
                let figures = match &self.mapped.window {
                    Some(window) => format!(
                        "{}\n{}",
                        rows_to_table(format, &distances(window), &DISTANCES),
                        rows_to_table(format, &self.figures(), &FIGURES)
                    ),
                    None => rows_to_table(format, &self.figures(), &WHOLE_FIGURES),
                };
                Ok(format!("{}\n\n{figures}\n{mapping}", self.words()))
            }
        }
    }

    pub fn json(&self) -> Result<String> {
        let mapped = self.mapped;
        let filter = &self.request.filter;
        let left_out = mapped.left_out;
        let window = mapped.window.as_ref().map(|window| {
            json!({
                "start_s": window.start_s,
                "first_job_id": window.first_job_id,
                "last_job_id": window.last_job_id,
                "candidates": window.candidates,
                "rank": window.rank,
                "distance": window.distance(),
                "distances": distances(window),
            })
        });
        let workloads = mapped.workloads.iter();
        let workloads: Vec<Value> =
            workloads.map(|(name, jobs)| json!({ "workload": name, "jobs": jobs })).collect();
        let value = json!({
            "schema_version": SCHEMA_VERSION,
            "aegis_sim_version": env!("CARGO_PKG_VERSION"),
            "source": self.trace.source,
            "catalogue": self.catalogue.source(),
            "seed": self.request.seed,
            "max_gpus": filter.max_gpus,
            "states": filter.states,
            "exclude": filter.exclude,
            "source_jobs": self.trace.jobs.len(),
            "eligible_jobs": mapped.eligible.jobs,
            "mapped_jobs": mapped.jobs.len(),
            "left_out": {
                "excluded": left_out.excluded,
                "gpus": left_out.gpus,
                "state": left_out.state,
                "outside_window": left_out.outside_window,
            },
            "window": window,
            "figures": self.figures(),
            "mapping": self.mapping(),
            "workloads": workloads,
        });
        let text = serde_json::to_string_pretty(&value);
        text.map(|text| text + "\n").map_err(|error| input_error!("cannot write the result as JSON: {error}"))
    }

    /// What became of the jobs.
    fn words(&self) -> String {
        let mapped = self.mapped;
        let left_out = mapped.left_out;
        let reasons = [
            (left_out.excluded, "excluded"),
            (left_out.gpus, "too many GPUs"),
            (left_out.state, "another state"),
            (left_out.outside_window, "outside the window"),
        ];
        let reasons: Vec<String> = reasons
            .iter()
            .filter(|(jobs, _)| *jobs > 0)
            .map(|(jobs, reason)| format!("{jobs} {reason}"))
            .collect();
        let reasons = if reasons.is_empty() { "none".to_owned() } else { reasons.join(", ") };
        let account = format!(
            "{} of {} jobs of {} mapped; left out: {reasons}.",
            mapped.jobs.len(),
            self.trace.jobs.len(),
            self.trace.source
        );
        match &mapped.window {
            None => account,
            Some(window) => format!(
                "{account}\nThe window starts at {} s with job {} and ends with job {}: rank {} of {} windows by distance \
                 from the whole.",
                window.start_s, window.first_job_id, window.last_job_id, window.rank, window.candidates
            ),
        }
    }

    fn figures(&self) -> Vec<Row> {
        let mapped = self.mapped;
        let window = mapped.window.as_ref().map(|window| values(&window.statistics, &mapped.gpu_counts));
        values(&mapped.eligible, &mapped.gpu_counts)
            .into_iter()
            .enumerate()
            .map(|(i, (figure, eligible))| match &window {
                Some(window) => {
                    row([("figure", figure.into()), ("window", window[i].1.clone()), ("eligible", eligible)])
                }
                None => row([("figure", figure.into()), ("eligible", eligible)]),
            })
            .collect()
    }

    fn mapping(&self) -> Vec<Row> {
        self.mapped.quality.iter().map(quality).collect()
    }

    /// One row per figure.
    fn long(&self) -> Vec<Row> {
        let long = |part: &str, subject: &str, figure: &str, value: &Value| {
            row([
                ("part", part.into()),
                ("subject", subject.into()),
                ("figure", figure.into()),
                ("value", value.clone()),
                ("schema_version", SCHEMA_VERSION.into()),
            ])
        };
        let mut rows = Vec::new();
        // The first column says what the others are about.
        let mut add = |part: &str, of: Vec<Row>| {
            for values in of {
                let mut values = values.iter();
                let subject = values.next().map_or("", |(_, subject)| subject.as_str().unwrap_or_default());
                rows.extend(values.map(|(figure, value)| long(part, subject, figure, value)));
            }
        };
        add("distance", self.mapped.window.as_ref().map(distances).unwrap_or_default());
        add("figure", self.figures());
        add("mapping", self.mapping());
        rows
    }
}

/// Per component, then the weighted sum.
fn distances(window: &Window) -> Vec<Row> {
    let weights = window.weights.values();
    let mut rows: Vec<Row> = COMPONENTS
        .iter()
        .zip(weights.iter().zip(&window.distances))
        .map(|((name, ..), (&weight, &distance))| {
            row([
                ("component", (*name).into()),
                ("weight", weight.into()),
                ("distance", distance.into()),
                ("weighted", (weight * distance).into()),
            ])
        })
        .collect();
    rows.push(row([
        ("component", "total".into()),
        ("weight", weights.iter().sum::<f64>().into()),
        ("distance", Value::Null),
        ("weighted", window.distance().into()),
    ]));
    rows
}

fn quality(quality: &Quality) -> Row {
    row([
        ("gpus", quality.gpus.map_or("all".to_owned(), |gpus| gpus.to_string()).into()),
        ("jobs", quality.jobs.into()),
        ("jobs_of_other_counts", quality.jobs_of_other_counts.into()),
        ("workloads", quality.workloads.into()),
        ("distinct_workloads", quality.distinct_workloads.into()),
        ("most_jobs_per_workload", quality.most_jobs_per_workload.into()),
        ("quantile_distance_mean", quality.quantile_distance_mean.into()),
        ("quantile_distance_max", quality.quantile_distance_max.into()),
    ])
}

fn values(statistics: &Statistics, gpu_counts: &[u32]) -> Vec<(String, Value)> {
    let shape = &statistics.shape;
    let [under_10m, under_1h, under_6h, under_1d] = shape.runtime_under;
    let mut values: Vec<(String, Value)> = [
        ("jobs", Value::from(statistics.jobs)),
        ("arrival_span_s", statistics.span_s.into()),
        ("runtime_under_10m", under_10m.into()),
        ("runtime_under_1h", under_1h.into()),
        ("runtime_under_6h", under_6h.into()),
        ("runtime_under_1d", under_1d.into()),
        ("duration_p50_s", statistics.duration_p50_s.into()),
        ("duration_p95_s", statistics.duration_p95_s.into()),
        ("interarrival_p50_s", shape.interarrival_p50_s.into()),
        ("interarrival_p95_s", shape.interarrival_p95_s.into()),
        ("zero_interarrivals", shape.zero_interarrivals.into()),
        ("total_gpu_service_s", statistics.total_gpu_service_s.into()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    for (name, shares) in [("gpu_demand", &shape.gpu_demand), ("gpu_service", &shape.gpu_service)] {
        let named = |(count, share): (&u32, &f64)| (format!("{name}_{count}"), Value::from(*share));
        values.extend(gpu_counts.iter().zip(shares).map(named));
    }
    values
}
