use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::Value;

use crate::error::{Result, input_error};
use crate::metrics::Figure;

/// Version of every table and file that the simulator writes.
pub const SCHEMA_VERSION: u32 = 1;

/// Named values in a fixed order: a line of a table, a CSV file or a JSON array.
pub type Row = serde_json::Map<String, Value>;

/// A row of these values.
pub(crate) fn row<const N: usize>(values: [(&str, Value); N]) -> Row {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// How to print rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For reading in a terminal
    Table,
    /// Every column, for programs
    Json,
    /// Every column, for spreadsheets
    Csv,
    /// The table for a document
    Markdown,
}

impl From<Figure> for Value {
    fn from(figure: Figure) -> Value {
        match figure {
            Figure::Count(count) => Value::from(count),
            // JSON has no NaN: null.
            Figure::Real(real) => Value::from(real),
        }
    }
}

/// Rows in a format. Tables show the named columns under their headings, the others all of them.
pub fn render(format: Format, rows: &[Row], columns: &[(&str, &str)]) -> Result<String> {
    match format {
        Format::Table | Format::Markdown => Ok(rows_to_table(format, rows, columns)),
        Format::Csv => rows_to_csv(rows),
        Format::Json => {
            let mut text = serde_json::to_string_pretty(rows)
                .map_err(|error| input_error!("cannot write the rows as JSON: {error}"))?;
            text.push('\n');
            Ok(text)
        }
    }
}

/// CSV with the columns of the first row.
pub fn rows_to_csv(rows: &[Row]) -> Result<String> {
    // Quotes what would read as a comment.
    let mut writer = csv::WriterBuilder::new().comment(Some(b'#')).from_writer(Vec::new());
    let failed = |error: &dyn std::fmt::Display| input_error!("cannot write the rows as CSV: {error}");
    if let Some(first) = rows.first() {
        writer.write_record(first.keys()).map_err(|e| failed(&e))?;
    }
    for row in rows {
        writer.write_record(row.values().map(plain)).map_err(|e| failed(&e))?;
    }
    let bytes = writer.into_inner().map_err(|e| failed(&e))?;
    String::from_utf8(bytes).map_err(|e| failed(&e))
}

/// The value without quotes; blank for null.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A table of the given columns: (name in the row, heading).
pub fn rows_to_table(format: Format, rows: &[Row], columns: &[(&str, &str)]) -> String {
    let mut table = Table::new();
    if format == Format::Markdown {
        table.load_style(presets::ASCII_MARKDOWN);
    } else {
        table.load_style(presets::UTF8_BORDERS_ONLY);
        // Wraps at the width of the terminal, if it is one.
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    // In Markdown a bar ends a cell, and a line its row.
    let shown = |text: String| match format {
        Format::Markdown => text.replace('|', "\\|").replace(['\n', '\r'], " "),
        _ => text,
    };
    table.set_header(columns.iter().map(|(_, heading)| shown((*heading).to_owned())));
    for row in rows {
        table.add_row(
            columns
                .iter()
                .map(|(name, _)| shown(row.get(*name).map_or(String::new(), |value| cell(name, value)))),
        );
    }
    for (index, (name, _)) in columns.iter().enumerate() {
        let numeric = rows.iter().any(|row| row.get(*name).is_some_and(Value::is_number));
        if let (true, Some(column)) = (numeric, table.column_mut(index)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = table.to_string();
    text.push('\n');
    text
}

/// A value as people read it: as many digits as it is good for, energy in kJ.
fn cell(name: &str, value: &Value) -> String {
    let Some(number) = value.as_f64().filter(|_| value.is_f64()) else {
        return if value.is_null() { "-".to_owned() } else { plain(value) };
    };
    if name.ends_with("error_pct") {
        format!("{number:+.1}")
    } else if name.ends_with("_pct") {
        format!("{number:.2}")
    } else if name.ends_with("_j") {
        format!("{:.0}", number / 1000.0)
    } else if number.abs() >= 100.0 {
        format!("{number:.0}")
    } else if name.ends_with("_s") {
        format!("{number:.1}")
    } else {
        format!("{number:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_quotes_what_needs_it_and_blanks_null() {
        let rows = [row([("a", "x,y".into()), ("b", Value::Null), ("c", 1.5.into())])];
        assert_eq!(rows_to_csv(&rows).unwrap(), "a,b,c\n\"x,y\",,1.5\n");
    }

    #[test]
    fn cells_have_the_digits_and_units_of_their_column() {
        let of = |name, number: f64| cell(name, &number.into());
        assert_eq!(of("energy_j", 23_490_243.2), "23490");
        assert_eq!(of("energy_j", 50.0), "0");
        assert_eq!([of("jct_mean_s", 12.34), of("jct_mean_s", 1234.5)], ["12.3", "1234"]);
        assert_eq!([of("makespan_error_pct", 1.25), of("slowdown_mean", 1.25)], ["+1.2", "1.250"]);
    }

    #[test]
    fn bars_and_line_ends_stay_in_their_markdown_cell() {
        let rows = [row([("a", "x|y\nz".into()), ("b", "end".into())])];
        let columns = [("a", "p|q"), ("b", "b")];
        let text = rows_to_table(Format::Markdown, &rows, &columns);
        assert!(text.contains("p\\|q") && text.contains("| x\\|y z | end |"), "{text}");
        assert!(rows_to_table(Format::Table, &rows, &columns).contains("x|y"));
    }

    #[test]
    fn tables_round_by_unit() {
        let rows =
            [row([("makespan_s", 42136.474.into()), ("error_pct", 1.26.into()), ("ratio", 0.70951.into())])];
        let columns = [("makespan_s", "makespan [s]"), ("error_pct", "error [%]"), ("ratio", "ratio")];
        let text = rows_to_table(Format::Markdown, &rows, &columns);
        assert!(text.contains("42136") && text.contains("+1.3") && text.contains("0.710"), "{text}");
    }
}
