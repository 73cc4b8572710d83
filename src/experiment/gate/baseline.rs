use std::collections::HashMap;

use crate::error::{Result, input_error};
use crate::experiment::sweep::{Experiment, Key};
use crate::model::check_schema;
use crate::report::{Row, SCHEMA_VERSION, rows_to_csv};
use crate::workload::Table;

/// Metrics of an experiment, as means over seeds, to hold later runs of it to.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    pub title: String,
    pub replicates: u64,
    pub first_seed: u64,
    /// The `--params` and `--set` that it was made with; blank without.
    pub changes: String,
    /// What `key` of a row consists of: trace, variant, policy, parameters of the axes, metric.
    pub columns: Vec<String>,
    pub rows: Vec<BaselineRow>,
    /// What was accepted in its file although it is unusual.
    pub notes: Vec<String>,
}

/// A metric of a setting on a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineRow {
    /// Values of the columns; blank for axes that the variant does not vary along.
    pub key: Vec<String>,
    /// Mean over seeds, in the metric's unit; NaN where it has none.
    pub value: f64,
}

const FIRST: [&str; 3] = ["trace", "variant", "policy"];
const LAST: [&str; 3] = ["metric", "value", "schema_version"];

impl Baseline {
    /// That of an experiment, still without rows.
    pub fn of(experiment: &Experiment) -> Baseline {
        let design = &experiment.design;
        Baseline {
            title: experiment.presentation.title.clone(),
            replicates: design.replicates,
            first_seed: design.first_seed,
            changes: String::new(),
            columns: columns(design.axes.iter().flat_map(|axis| axis.keys.iter().cloned())),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Parses a baseline file: comment lines that say how many seeds its values are means over, then CSV. `source` names it
    /// in messages.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) with file and line for whatever is no baseline.
    pub fn parse(source: &str, bytes: &[u8]) -> Result<Baseline> {
        let table = Table::parse(source, bytes, &[&FIRST[..], &LAST[..]].concat())?;
        let text = String::from_utf8_lossy(bytes);
        let comments: Vec<&str> = text
            .trim_start_matches('\u{feff}')
            .lines()
            .map_while(|line| line.strip_prefix('#'))
            .map(str::trim)
            .collect();
        let number = |name: &str| -> Result<u64> {
            let find = |(index, comment): (usize, &&str)| {
                let value = comment.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned();
                Some((index + 1, value))
            };
            let (line, value) = comments.iter().enumerate().find_map(find).ok_or_else(|| {
                input_error!(
                    "{source}: no line \"# {name}: ...\" among the comments at its top, as a baseline has; name another file \
                     with --baseline, or remove this one and run check --update"
                )
            })?;
            value.parse().map_err(|_| {
                input_error!("{source}, line {line}: {name}: found {value:?}; expected a whole number")
            })
        };
        let (replicates, first_seed) = (number("replicates")?, number("first_seed")?);
        let title = comments.iter().find_map(|comment| comment.strip_prefix("experiment:"));
        let axes = table
            .header()
            .iter()
            .filter(|name| !FIRST.contains(&name.as_str()) && !LAST.contains(&name.as_str()));
        let columns = columns(axes.cloned());
        let mut rows = Vec::with_capacity(table.len());
        let mut lines = HashMap::new();
        for row in table.rows() {
            let field = |column: &String| match Key::find(column) {
                Ok(key) => match row.text(column) {
                    Some(text) => key
                        .canonical(text)
                        .map_err(|problem| input_error!("{}: {problem}", row.place(column))),
                    None => Ok(String::new()),
                },
                Err(_) => row.required_text(column).map(str::to_owned),
            };
            let key = columns.iter().map(field).collect::<Result<Vec<String>>>()?;
            let value = match row.text("value").map(|text| (text, text.parse::<f64>())) {
                None => f64::NAN,
                Some((_, Ok(value))) if value.is_finite() => value,
                Some((text, _)) => {
                    return Err(input_error!(
                        "{}: found {text:?}; expected a number, or nothing where the metric has none",
                        row.place("value")
                    ));
                }
            };
            let version = row.required_integer("schema_version", 0..=u32::MAX)?;
            check_schema(&row.place("schema_version"), version)?;
            if let Some(line) = lines.insert(key.clone(), row.line()) {
                let named: Vec<&str> =
                    key.iter().map(String::as_str).filter(|field| !field.is_empty()).collect();
                return Err(input_error!(
                    "{source}, line {}: {} is on line {line} already; remove one",
                    row.line(),
                    named.join(", ")
                ));
            }
            rows.push(BaselineRow { key, value });
        }
        Ok(Baseline {
            title: title.map_or(String::new(), |title| title.trim().to_owned()),
            replicates,
            first_seed,
            changes: String::new(),
            columns,
            rows,
            notes: table.notes().to_owned(),
        })
    }

    /// The same with its columns in the order of `other`'s.
    ///
    /// # Errors
    /// They cannot be compared: means over other seeds, or of an experiment with other axes. `source` names this one.
    pub fn aligned_with(mut self, source: &str, other: &Baseline) -> Result<Baseline> {
        for (name, was, is) in [
            ("replicates", self.replicates, other.replicates),
            ("first_seed", self.first_seed, other.first_seed),
        ] {
            if was != is {
                return Err(input_error!(
                    "{source}: of an experiment with {name} = {was}; found {is}: differences between other seeds are noise; \
                     set {name} = {was} in the experiment, or make the baseline anew with check --update"
                ));
            }
        }
        let lacks =
            |one: &[String], other: &[String]| one.iter().find(|column| !other.contains(column)).cloned();
        let problem = lacks(&other.columns, &self.columns)
            .map(|column| format!("no column {column}, an axis of the experiment"))
            .or(lacks(&self.columns, &other.columns)
                .map(|column| format!("the column {column}, which is no axis of the experiment")));
        if let Some(problem) = problem {
            return Err(input_error!(
                "{source}: found {problem}; make the baseline anew with check --update"
            ));
        }
        let order: Vec<usize> = other
            .columns
            .iter()
            .filter_map(|column| self.columns.iter().position(|own| own == column))
            .collect();
        for row in &mut self.rows {
            row.key = order.iter().map(|&index| row.key[index].clone()).collect();
        }
        self.columns.clone_from(&other.columns);
        Ok(self)
    }

    /// The file.
    ///
    /// # Errors
    /// None that a caller could bring about.
    pub fn text(&self) -> Result<String> {
        let rows: Vec<Row> = self
            .rows
            .iter()
            .map(|BaselineRow { key, value }| {
                let mut row: Row =
                    self.columns.iter().cloned().zip(key.iter().map(|text| text.as_str().into())).collect();
                row.insert("value".into(), (*value).into());
                row.insert("schema_version".into(), SCHEMA_VERSION.into());
                row
            })
            .collect();
        let changes = match self.changes.as_str() {
            "" => String::new(),
            changes => format!("# changes: {}\n", one_line(changes)),
        };
        Ok(format!(
            "# Baseline of aegis-sim check: means over seeds. Written by aegis-sim {} with --update; change the experiment instead.\n\
             # experiment: {}\n# replicates: {}\n# first_seed: {}\n{changes}{}",
            env!("CARGO_PKG_VERSION"),
            one_line(&self.title),
            self.replicates,
            self.first_seed,
            rows_to_csv(&rows)?
        ))
    }
}

/// Columns of a row's key.
fn columns(axes: impl Iterator<Item = String>) -> Vec<String> {
    FIRST.map(str::to_owned).into_iter().chain(axes).chain(["metric".to_owned()]).collect()
}

/// Line ends would begin a line of another meaning.
pub(super) fn one_line(text: &str) -> String {
    text.replace(|character: char| character.is_control(), " ")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::experiment::gate) fn baseline(rows: &[(&str, &str, f64)]) -> Baseline {
        let row = |(variant, window, value): &(&str, &str, f64)| BaselineRow {
            key: ["philly", variant, "aegis", window, "makespan_s"].map(str::to_owned).into(),
            value: *value,
        };
        Baseline {
            title: "Windows".into(),
            replicates: 10,
            first_seed: 1,
            changes: String::new(),
            columns: columns(["observation_window_s".to_owned()].into_iter()),
            rows: rows.iter().map(row).collect(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let written = baseline(&[("#a, \"b\"", "30", 1.0 / 3.0), ("c", "", f64::NAN), ("d", "0.5", 12.0)]);
        let text = written.text().unwrap();
        let read = Baseline::parse("b.csv", text.as_bytes()).unwrap();
        assert_eq!(read.text().unwrap(), text);
        assert_eq!(
            (read.rows[0].clone(), read.rows[2].clone()),
            (written.rows[0].clone(), written.rows[2].clone())
        );
        assert!(read.rows[1].value.is_nan() && read.notes.is_empty());
        let hashed = Baseline {
            rows: vec![BaselineRow { key: ["#t", "v", "p", "", "m"].map(str::to_owned).into(), value: 1.0 }],
            ..written
        };
        assert_eq!(Baseline::parse("b.csv", hashed.text().unwrap().as_bytes()).unwrap().rows, hashed.rows);
    }

    #[test]
    fn spreadsheets_may_write_numbers_and_columns_in_their_way() {
        let text = "\u{feff}# replicates: 10\r\n# first_seed: 1\r\nmetric,observation_window_s,trace,variant,policy,value,schema_version\r\nm,30.0,t,v,p,1e2,1\r\n";
        let read = Baseline::parse("b.csv", text.as_bytes()).unwrap();
        let aligned = read.aligned_with("b.csv", &baseline(&[])).unwrap();
        assert_eq!(
            aligned.rows,
            [BaselineRow { key: ["t", "v", "p", "30", "m"].map(str::to_owned).into(), value: 100.0 }]
        );
        assert_eq!(aligned.notes.len(), 2);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let head = "# replicates: 10\n# first_seed: 1\ntrace,variant,policy,observation_window_s,metric,value,schema_version\n";
        let with = |rows: &str| format!("{head}{rows}");
        for (text, says) in [
            (String::new(), "b.csv is empty"),
            ("# replicates: 1\ntrace,variant\n".to_owned(), "b.csv, line 2: the column policy is missing"),
            (head.replace("# replicates: 10\n", ""), "no line \"# replicates: ...\" among the comments"),
            (
                head.replace("seed: 1", "seed: x"),
                "b.csv, line 2: first_seed: found \"x\"; expected a whole number",
            ),
            (with("t,v,p,30,m,1,2\n"), "b.csv, line 4, column schema_version: found schema_version 2"),
            (with("t,v,p,30,m,one,1\n"), "line 4, column value: found \"one\"; expected a number"),
            (with("t,v,p,30,m,inf,1\n"), "column value: found \"inf\""),
            (with("t,,p,30,m,1,1\n"), "line 4, column variant: blank"),
            (
                with("t,v,p,-1,m,1,1\n"),
                "column observation_window_s: parameter observation_window_s: found \"-1\"",
            ),
            (with("t,v,p,30,m,1,1\nt,v,p,30.0,m,2,1\n"), "line 5: t, v, p, 30, m is on line 4 already"),
            (with("t,v,p,30,m,1\n"), "line 4: found 6 fields"),
        ] {
            let message = Baseline::parse("b.csv", text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }

    #[test]
    fn other_seeds_and_axes_are_not_compared() {
        let stored = baseline(&[]);
        let refused = |other: Baseline| stored.clone().aligned_with("b.csv", &other).unwrap_err().to_string();
        let seeds = refused(Baseline { replicates: 20, ..stored.clone() });
        assert!(seeds.contains("b.csv: of an experiment with replicates = 10; found 20"), "{seeds}");
        assert!(refused(Baseline { first_seed: 2, ..stored.clone() }).contains("first_seed = 1; found 2"));
        let more = columns(["observation_window_s", "gpu_count"].map(str::to_owned).into_iter());
        assert!(
            refused(Baseline { columns: more, ..stored.clone() }).contains("no column gpu_count, an axis")
        );
        let fewer = columns(std::iter::empty());
        assert!(
            refused(Baseline { columns: fewer, ..stored.clone() })
                .contains("observation_window_s, which is no axis")
        );
    }
}
