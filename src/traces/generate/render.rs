use std::fmt::Write;

use super::fit::Fit;
use super::quantiles::Quantiles;
use super::statistics::Statistics;
use crate::error::Result;

impl Fit {
    /// The specification as a file, with comments on where it comes from and how near it is.
    ///
    /// # Errors
    /// None that a fit did not have already.
    pub fn to_toml(&self) -> Result<String> {
        let mut text = String::new();
        self.render(&mut text).expect("a string takes all text");
        let statistics = Statistics::of(&self.spec, 1.0)?;
        Ok(self.comments(&statistics) + &text)
    }

    fn comments(&self, statistics: &Statistics<'_>) -> String {
        let mut lines = vec![
            format!("Fitted by aegis-sim {} with", env!("CARGO_PKG_VERSION")),
            format!("  aegis-sim trace fit {} --start-hour {}", self.source, self.start_hour),
            format!("to {} jobs in {:.1} days. Here and in the trace:", self.jobs, self.span_s / 86_400.0),
            format!(
                "  mean gap between submissions {:.1} s and {:.1} s, KS distance {:.4}",
                statistics.mean_gap_s(),
                self.mean_gap_s,
                self.gap_distance
            ),
            format!(
                "  mean GPU-seconds of a job {:.0} and {:.0}, KS distance of durations {:.4}",
                statistics.mean_gpu_s(),
                self.mean_gpu_s,
                self.duration_distance
            ),
        ];
        lines.extend(self.notes.iter().cloned());
        lines.iter().fold(String::new(), |text, line| text + "# " + &line.replace(['\n', '\r'], " ") + "\n")
    }

    fn render(&self, out: &mut String) -> std::fmt::Result {
        let spec = &self.spec;
        let arrivals = &spec.arrivals;
        writeln!(out, "schema_version = 1\nname = {}\n", quoted(&spec.name))?;
        writeln!(out, "[arrivals]\nburst_gap_s = {} # a quarter of the mean gap", arrivals.burst_gap_s)?;
        for (key, rates) in [("hourly", &arrivals.hourly), ("weekday", &arrivals.weekday)] {
            if rates.iter().any(|&rate| rate != 1.0) {
                let rates: Vec<String> = rates.iter().map(f64::to_string).collect();
                writeln!(out, "{key} = [")?;
                for line in rates.chunks(12) {
                    writeln!(out, "  {},", line.join(", "))?;
                }
                writeln!(out, "]")?;
            }
        }
        quantiles(out, "arrivals.burst_jobs", &arrivals.burst_jobs)?;
        quantiles(out, "arrivals.gap_s", &arrivals.gap_s)?;
        quantiles(out, "arrivals.wait_s", &arrivals.wait_s)?;
        if let Some(regular) = &arrivals.regular {
            writeln!(out, "\n[arrivals.regular]\nshare = {}", regular.share)?;
            quantiles(out, "arrivals.regular.gap_s", &regular.gap_s)?;
        }
        for gpus in &spec.gpus {
            writeln!(out, "\n[[gpus]]\ncount = {}\nshare = {}", gpus.count, gpus.share)?;
        }
        writeln!(out, "\n[durations]\ncorrelation = {} # of successive jobs", spec.durations.correlation)?;
        for class in &spec.durations.class {
            writeln!(out, "\n[[durations.class]]\nmin_gpus = {}", class.min_gpus)?;
            quantiles(out, "durations.class.duration_s", &class.duration_s)?;
        }
        for vc in &spec.vc {
            writeln!(out, "\n[[vc]]\nname = {}\nshare = {}", quoted(&vc.name), vc.share)?;
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn quantiles(out: &mut String, key: &str, quantiles: &Quantiles) -> std::fmt::Result {
    writeln!(out, "\n[{key}]\npoints = [")?;
    for line in quantiles.points.chunks(6) {
        let points: Vec<String> = line.iter().map(|[p, value]| format!("[{p}, {value}]")).collect();
        writeln!(out, "  {},", points.join(", "))?;
    }
    writeln!(out, "]")?;
    match quantiles.tail {
        Some(tail) => writeln!(out, "tail = {{ alpha = {}, max = {} }}", tail.alpha, tail.max),
        None => Ok(()),
    }
}
