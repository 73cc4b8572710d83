use std::collections::HashMap;
use std::path::Path;

use super::profile::{Activity, GpuProfile, Metric};
use super::table::{Row, Table};
use super::{MAX_MEMORY_MIB, MAX_SPAN_S};
use crate::error::{Error, Result, input_error};

/// Memory that estimators predict per GPU, in MiB; `None` where there is no estimate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MemoryEstimates {
    pub horus_mib: Option<f64>,
    pub faketensor_mib: Option<f64>,
    pub gpumemnet_mib: Option<f64>,
}

/// A profiled training workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    pub name: String,
    /// Workloads of one model architecture, which are left out together to judge a calibration.
    pub family: String,
    /// GPUs that it was profiled on.
    pub gpus: u32,
    /// From launch to exit, alone; start-up is part of it.
    pub solo_runtime_s: f64,
    /// From launch to first GPU activity.
    pub startup_s: f64,
    /// By rank in the gang; never empty.
    profiles: Vec<GpuProfile>,
    pub estimates: MemoryEstimates,
    /// Lucid's class: 0 tiny, 1 medium, 2 jumbo.
    pub lucid_sharing_score: Option<u32>,
}

impl Workload {
    /// The workload of a job that is kept within a share of each of its GPUs, and within so much of their memory.
    ///
    /// What estimators predict is capped likewise, for a scheduler knows the limit. Lucid's class is kept: it was worked
    /// out for whole GPUs and says of no share how much less the job would bother others, so that Lucid shares it no
    /// more than the unlimited one.
    fn within(&self, share: f64, memory_mib: f64, closing_activity: f64) -> Workload {
        let MemoryEstimates { horus_mib, faketensor_mib, gpumemnet_mib } = self.estimates;
        let capped = |estimate_mib: Option<f64>| estimate_mib.map(|mib| mib.min(memory_mib));
        Workload {
            profiles: self.profiles.iter().map(|p| p.within(share, memory_mib, closing_activity)).collect(),
            estimates: MemoryEstimates {
                horus_mib: capped(horus_mib),
                faketensor_mib: capped(faketensor_mib),
                gpumemnet_mib: capped(gpumemnet_mib),
            },
            ..self.clone()
        }
    }

    /// The profile of the gang's GPU `rank`; ranks beyond the profiled ones are like the first.
    pub fn profile(&self, rank: usize) -> &GpuProfile {
        self.profiles.get(rank).unwrap_or(&self.profiles[0])
    }

    /// Whether a metric is known on all of its GPUs.
    pub fn knows(&self, metric: Metric) -> bool {
        self.profiles.iter().all(|profile| profile.knows(metric))
    }

    /// Takes SMACT, SMOCC and DRAMA out of the profile, as if nvidia-smi had been all there was.
    #[cfg(test)]
    pub(crate) fn forget_counters(&mut self) {
        for profile in &mut self.profiles {
            (profile.smact, profile.smocc, profile.drama) = (None, None, None);
        }
    }

    fn shares_figures_with(&self, other: &Workload) -> bool {
        self.solo_runtime_s == other.solo_runtime_s || self.profiles == other.profiles
    }
}

/// The workloads that traces may name, by name.
///
/// Built in: the 53 training workloads of the AEGIS evaluation on an A100 40 GB (`models/workloads.csv`).
#[derive(Debug, Clone)]
pub struct Catalogue {
    source: String,
    workloads: Vec<Workload>,
    index: HashMap<String, usize>,
}

/// Where the built-in catalogue stands in the repository.
pub const BUILTIN_CATALOGUE: &str = "models/workloads.csv";

const REQUIRED: &[&str] =
    &["workload", "gpus", "solo_runtime_s", "startup_s", "peak_memory_mib", "gpu_util_mean"];

impl Catalogue {
    /// The workloads that ship with the simulator.
    pub fn builtin() -> Catalogue {
        let bytes = include_bytes!("../../models/workloads.csv");
        Self::parse(BUILTIN_CATALOGUE, bytes).expect("the built-in catalogue parses: a test sees to it")
    }

    /// Reads a catalogue file; without one, what ships with the simulator.
    pub fn load_or_builtin(path: Option<&Path>) -> Result<Catalogue> {
        path.map_or_else(|| Ok(Catalogue::builtin()), Catalogue::load)
    }

    /// Reads a catalogue file.
    pub fn load(path: &Path) -> Result<Catalogue> {
        let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
        Self::parse(&path.display().to_string(), &bytes)
    }

    /// Parses a catalogue; its columns are listed in `models/README.md`.
    ///
    /// # Errors
    /// [`Error::Input`] with file, line and column for anything that cannot be used.
    pub fn parse(source: &str, bytes: &[u8]) -> Result<Catalogue> {
        let table = Table::parse(source, bytes, REQUIRED)?;
        let mut catalogue =
            Catalogue { source: source.to_owned(), workloads: Vec::new(), index: HashMap::new() };
        for row in table.rows() {
            catalogue.add(row)?;
        }
        if catalogue.workloads.is_empty() {
            return Err(input_error!("{source} has a header but no workload; add one line per workload"));
        }
        Ok(catalogue)
    }

    fn add(&mut self, row: Row<'_>) -> Result<()> {
        let name = row.required_text("workload")?;
        let rank = row.integer("gpu_rank", 0..=4095)?.unwrap_or(0) as usize;
        let known = self.index.get(name).copied();
        if rank > 0 {
            let Some(index) = known else {
                return Err(input_error!(
                    "{}: {name} has rank {rank} before rank 0; put the rank 0 line first",
                    row.place("gpu_rank")
                ));
            };
            let workload = &mut self.workloads[index];
            if rank != workload.profiles.len() || rank >= workload.gpus as usize {
                return Err(input_error!(
                    "{}: found rank {rank} of {name}; expected ranks 1 to gpus - 1 in order, once each",
                    row.place("gpu_rank")
                ));
            }
            let active_s = workload.solo_runtime_s - workload.startup_s;
            workload.profiles.push(gpu_profile(row, active_s)?);
            return Ok(());
        }
        if known.is_some() {
            return Err(input_error!("{}: {name} comes twice; remove one", row.place("workload")));
        }
        let solo_runtime_s = row.required_number("solo_runtime_s", 0.0..=MAX_SPAN_S)?;
        let startup_s = row.required_number("startup_s", 0.0..=MAX_SPAN_S)?;
        let workload = Workload {
            name: name.to_owned(),
            family: row.text("family").unwrap_or(name).to_owned(),
            gpus: row.required_integer("gpus", 1..=4096)?,
            solo_runtime_s,
            startup_s,
            profiles: vec![gpu_profile(row, solo_runtime_s - startup_s)?],
            estimates: MemoryEstimates {
                horus_mib: row.number("horus_estimate_mib", 0.0..=MAX_MEMORY_MIB)?,
                faketensor_mib: row.number("faketensor_estimate_mib", 0.0..=MAX_MEMORY_MIB)?,
                gpumemnet_mib: row.number("gpumemnet_estimate_mib", 0.0..=MAX_MEMORY_MIB)?,
            },
            lucid_sharing_score: row.integer("lucid_sharing_score", 0..=2)?,
        };
        self.index.insert(workload.name.clone(), self.workloads.len());
        self.workloads.push(workload);
        Ok(())
    }

    /// Adds the workload at an index once more, as that of jobs which are kept within a share of each GPU and within so
    /// much of its memory, and returns its place. It has the same name, by which the original is still found.
    pub(crate) fn add_limited(
        &mut self,
        workload: usize,
        share: f64,
        memory_mib: f64,
        closing_activity: f64,
    ) -> usize {
        let limited = self.workloads[workload].within(share, memory_mib, closing_activity);
        self.workloads.push(limited);
        self.workloads.len() - 1
    }

    /// What messages call it.
    pub(crate) fn set_source(&mut self, source: &str) {
        self.source = source.to_owned();
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn workloads(&self) -> &[Workload] {
        &self.workloads
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        let named = self
            .workloads
            .iter()
            .enumerate()
            .filter(|(at, workload)| self.position(&workload.name) == Some(*at));
        named.map(|(_, workload)| workload.name.as_str())
    }

    /// Whether it has a workload with the name and the runtime or profile of one in `other`: then it is an
    /// edited copy, not the catalogue of another machine.
    pub fn derives_from(&self, other: &Catalogue) -> bool {
        let known = |workload: &Workload| {
            other.get(&workload.name).is_some_and(|of| workload.shares_figures_with(of))
        };
        self.workloads.iter().any(known)
    }

    pub fn get(&self, name: &str) -> Option<&Workload> {
        self.index.get(name).map(|&i| &self.workloads[i])
    }

    /// The place of a workload in [`Catalogue::workloads`].
    pub fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// The workload, to change it: a what-if study scales a runtime or a memory peak.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Workload> {
        self.index.get(name).map(|&i| &mut self.workloads[i])
    }
}

/// `active_s`: runtime alone from the first GPU activity on.
fn gpu_profile(row: Row<'_>, active_s: f64) -> Result<GpuProfile> {
    let peak = row.required_number("peak_memory_mib", 0.0..=MAX_MEMORY_MIB)?;
    let initial = row.number("initial_memory_mib", 0.0..=peak)?;
    let growth_s = row.number("memory_growth_s", 0.0..=MAX_SPAN_S)?;
    if initial.is_some() != growth_s.is_some() {
        return Err(input_error!(
            "{}: initial_memory_mib and memory_growth_s come together; fill in both or neither",
            row.place("initial_memory_mib")
        ));
    }
    let closing_s = row.number("closing_s", 0.0..=active_s.max(0.0))?.unwrap_or(0.0);
    Ok(GpuProfile {
        peak_memory_mib: peak,
        initial_memory_mib: initial.unwrap_or(peak),
        memory_growth_s: growth_s.unwrap_or(0.0),
        smact: activity(row, Metric::Smact)?,
        smocc: activity(row, Metric::Smocc)?,
        drama: activity(row, Metric::Drama)?,
        gpu_util: activity(row, Metric::GpuUtil)?
            .ok_or_else(|| input_error!("{}: blank; a number is needed", row.place("gpu_util_mean")))?,
        counter_share: row.number("counter_share", 0.05..=1.0)?.unwrap_or(1.0),
        closing_s,
        closing_share: if closing_s > 0.0 { closing_s / active_s } else { 0.0 },
    })
}

/// `None` where all of a metric's columns are blank or absent.
fn activity(row: Row<'_>, metric: Metric) -> Result<Option<Activity>> {
    let column = |statistic: &str| format!("{}_{statistic}", metric.column());
    let value = |statistic: &str| row.number(&column(statistic), 0.0..=1.0);
    let Some(mean) = value("mean")? else {
        if let Some(given) = ["median", "p95", "max"].into_iter().find(|s| row.text(&column(s)).is_some()) {
            return Err(input_error!(
                "{}: blank, although {} is given; fill it in, or leave all columns of {} blank",
                row.place(&column("mean")),
                column(given),
                metric.name()
            ));
        }
        return Ok(None);
    };
    // A statistic that was not measured is taken as that of a steady signal.
    let median = value("median")?.unwrap_or(mean);
    let max = value("max")?.unwrap_or(mean.max(median));
    let p95 = value("p95")?.unwrap_or(max);
    if median > p95 || p95 > max || mean > max {
        return Err(input_error!(
            "{}: mean {mean}, median {median}, p95 {p95} and max {max} contradict each other; expected \
             median <= p95 <= max and mean <= max",
            row.place(&column("mean"))
        ));
    }
    Ok(Some(Activity { mean, median, p95, max }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_catalogue_has_the_53_workloads() {
        let catalogue = Catalogue::builtin();
        assert_eq!(catalogue.workloads().len(), 53);
        let llama = catalogue.get("llama3_width_8layer_wiki_bs1_1gpu").unwrap();
        assert_eq!(llama.estimates, MemoryEstimates::default(), "blank is no estimate");
        let dlrm = catalogue.get("dlrm_criteo_bs32768_1gpu").unwrap();
        assert_eq!(dlrm.estimates.horus_mib, Some(40000.0), "the estimators' cap is an estimate");
        let xlnet = catalogue.get("xlnet_base_cased_wiki_bs8_2gpu").unwrap();
        assert_eq!(xlnet.profile(1).peak_memory_mib, 428.0);
        assert_eq!(xlnet.profile(1).smact, Some(Activity::default()));
        let gpt2 = catalogue.get("gpt2_xl_wiki_bs2_1gpu").unwrap();
        assert_eq!((gpt2.profile(0).initial_memory_mib, gpt2.profile(0).memory_growth_s), (33704.0, 200.0));
    }

    #[test]
    fn contradictions_are_refused() {
        let head = "workload,gpus,solo_runtime_s,startup_s,peak_memory_mib,smact_mean,smact_median,smact_p95,\
                    smocc_mean,drama_mean,gpu_util_mean\n";
        for (line, says) in [
            ("a,1,10,1,100,0.5,0.9,0.8,0,0,0", "column smact_mean: mean 0.5, median 0.9"),
            ("a,0,10,1,100,0.5,,,0,0,0", "column gpus: found \"0\""),
            ("a,1,10,1,100,50,,,0,0,0", "column smact_mean: found 50"),
            ("a,1,10,1,,0.5,,,0,0,0", "column peak_memory_mib: blank"),
            ("a,1,10,1,100,,,0.5,0,0,0", "column smact_mean: blank, although smact_p95 is given"),
            ("a,1,10,1,100,0.5,,,0,0,", "column gpu_util_mean: blank"),
        ] {
            let message =
                Catalogue::parse("w.csv", format!("{head}{line}\n").as_bytes()).unwrap_err().to_string();
            assert!(message.starts_with("w.csv, line 2, ") && message.contains(says), "{message}");
        }
    }
    #[test]
    fn an_edited_copy_is_told_from_a_catalogue_of_its_own() {
        let builtin = Catalogue::builtin();
        let mut edited = builtin.clone();
        for workload in &mut edited.workloads {
            workload.solo_runtime_s *= 1.1;
        }
        assert!(edited.derives_from(&builtin));
        for workload in &mut edited.workloads {
            workload.profiles[0].peak_memory_mib += 1.0;
        }
        assert!(!edited.derives_from(&builtin), "the names alone say nothing");
    }

    /// Blank columns and missing ones are alike, and neither is 0.
    #[test]
    fn nvidia_smi_alone_will_do() {
        let text = "workload,family,gpus,solo_runtime_s,startup_s,peak_memory_mib,smact_mean,gpu_util_mean\n\
                    a,net,1,10,1,100,,0.5\nb,,1,10,1,100,0,0.5\n";
        let catalogue = Catalogue::parse("w.csv", text.as_bytes()).unwrap();
        let [a, b] = ["a", "b"].map(|name| catalogue.get(name).unwrap());
        assert_eq!(Metric::ALL.map(|metric| a.knows(metric)), [false, false, false, true]);
        assert_eq!(Metric::ALL.map(|metric| b.knows(metric)), [true, false, false, true]);
        assert_eq!((a.family.as_str(), b.family.as_str()), ("net", "b"));
    }
}
