//! `trace import`: published formats, what becomes of odd rows, and messy files.

mod formats;
mod messy;
mod odd;
mod options;
mod times;

use std::io::Write;

use crate::common::{Scratch, succeeds};
use serde_json::Value;

/// The rows of the trace without its comments, what was said, and the account.
struct Imported {
    rows: Vec<String>,
    comments: String,
    said: String,
    account: Value,
}

impl Imported {
    fn dropped(&self) -> Vec<(String, u64)> {
        counts(&self.account["dropped"])
    }

    fn notices(&self) -> Vec<(String, u64)> {
        counts(&self.account["notices"])
    }

    /// Lines of the rows that were dropped for a reason, or that a note is about.
    fn lines(&self, code: &str) -> Vec<u64> {
        let lists = ["dropped", "notices"].map(|list| self.account[list].as_array().unwrap().clone());
        let entry = lists.into_iter().flatten().find(|entry| entry["code"] == code);
        let places = entry.map(|entry| entry["first"].as_array().unwrap().clone()).unwrap_or_default();
        places.iter().map(|place| place["line"].as_u64().unwrap()).collect()
    }
}

fn counts(list: &Value) -> Vec<(String, u64)> {
    let entries = list.as_array().unwrap().iter();
    entries
        .map(|entry| (entry["code"].as_str().unwrap().to_owned(), entry["count"].as_u64().unwrap()))
        .collect()
}

fn named(pairs: &[(&str, u64)]) -> Vec<(String, u64)> {
    pairs.iter().map(|&(code, count)| (code.to_owned(), count)).collect()
}

#[track_caller]
fn import(inputs: &[&str], options: &[&str]) -> Imported {
    let files = Scratch::new();

    let (out, report) = (files.text("out.csv"), files.text("report.json"));
    let mut args = vec!["trace", "import"];
    args.extend(inputs);
    args.extend(options);
    args.extend(["-o", &out, "--report", &report]);
    let said = succeeds(&args);
    let text = files.read("out.csv");
    let account: Value = serde_json::from_str(&files.read("report.json")).unwrap();
    let dropped: u64 = counts(&account["dropped"]).iter().map(|(_, count)| count).sum();
    let [read, kept] = ["rows_read", "kept"].map(|key| account[key].as_u64().unwrap());
    assert_eq!(read, kept + dropped, "the account adds up");
    for file in account["files"].as_array().unwrap().iter().filter(|file| !file["other_lines"].is_null()) {
        let [lines, header, rows, other] =
            ["lines", "header_lines", "rows", "other_lines"].map(|key| file[key].as_u64().unwrap());
        assert_eq!(lines, header + rows + other, "so do the lines");
    }
    let (comments, rows): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("# "));
    let rows: Vec<String> = rows.into_iter().map(str::to_owned).collect();
    assert_eq!(rows.len() as u64, kept + 1);
    Imported { rows, comments: comments.join("\n"), said, account }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const HELIOS: &str = "examples/logs/helios.csv";
const PHILLY: &str = "examples/logs/philly.json";
const HELIOS_HEADER: &str =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n";

fn ids(imported: &Imported) -> Vec<&str> {
    imported.rows[1..].iter().map(|row| row.split(',').next().unwrap()).collect()
}

/// A Helios log of these rows.
fn helios_rows(files: &Scratch, rows: &[&str]) -> String {
    files.write("rows.csv", format!("{HELIOS_HEADER}{}\n", rows.join("\n")))
}
