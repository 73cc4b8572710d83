//! Execution traces of the AEGIS artifact: `submit_time_s,task_path`, the path's file name being the workload.

use std::borrow::Cow;

use csv::ByteRecord;

use super::clock::micros;
use super::code::Reason;
use super::job::{Demand, Found, Problem, SourceJob};
use crate::error::{Result, did_you_mean, input_error};
use crate::workload::Catalogue;

const COLUMNS: [&str; 2] = ["submit_time_s", "task_path"];

/// Reads rows; jobs run as long as their workloads and on as many GPUs.
pub(super) struct AegisReader {
    catalogue: Catalogue,
    places: [usize; 2],
    rows: u64,
}

impl AegisReader {
    pub fn new(catalogue: Catalogue) -> AegisReader {
        AegisReader { catalogue, places: [0, 1], rows: 0 }
    }

    pub fn header(&mut self, file: &str, line: u64, header: &ByteRecord) -> Result<()> {
        for (place, name) in self.places.iter_mut().zip(COLUMNS) {
            *place =
                header.iter().position(|found| found.trim_ascii() == name.as_bytes()).ok_or_else(|| {
                    let found: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
                    input_error!(
                        "{file}, line {line}: the column {name} is missing; found {}; expected {}",
                        found.join(","),
                        COLUMNS.join(",")
                    )
                })?;
        }
        Ok(())
    }

    pub fn read<'r>(&mut self, row: &'r ByteRecord) -> Result<Found<'r>, Problem> {
        let id = self.rows.to_string();
        self.rows += 1;
        let [submit, path] =
            self.places.map(|place| String::from_utf8_lossy(row.get(place).unwrap_or_default().trim_ascii()));
        if submit.is_empty() {
            return Err(Reason::NoSubmit.into());
        }
        let submit_us = micros(&submit, 1.0)
            .ok_or_else(|| Problem::field(Reason::BadNumber, "column submit_time_s", &submit))?;
        let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = file.strip_suffix(".yaml").or(file.strip_suffix(".yml")).unwrap_or(file);
        let Some(workload) = self.catalogue.get(name) else {
            let hint = did_you_mean(name, self.catalogue.names());
            let mut problem = Problem::field(Reason::UnknownWorkload, "column task_path", name);
            problem.detail = problem.detail.map(|detail| format!("{detail} {hint}").trim_end().to_owned());
            return Err(problem);
        };
        Ok(Found {
            job: SourceJob {
                id: Cow::Owned(id),
                submit_us,
                duration_us: None,
                demand: Demand { gpus: workload.gpus, share: None },
                workload: Cow::Owned(name.to_owned()),
                user: None,
                vc: None,
                state: None,
            },
            notices: Vec::new(),
        })
    }
}
