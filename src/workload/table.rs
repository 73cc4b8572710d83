//! A CSV file held as text with the line of every row, so that a message can say where.

use crate::error::{Result, did_you_mean, input_error};

/// A parsed CSV file: a header and rows of as many fields.
pub struct Table {
    source: String,
    header: Vec<String>,
    rows: Vec<(u64, csv::StringRecord)>,
    notes: Vec<String>,
}

/// One row of a [`Table`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    table: &'a Table,
    line: u64,
    fields: &'a csv::StringRecord,
}

impl Table {
    /// Parses CSV with a header row. Lines that start with `#` are comments; a byte-order mark and CRLF
    /// line ends are accepted with a note. `source` names the file in messages.
    pub fn parse(source: &str, bytes: &[u8], required: &[&str]) -> Result<Table> {
        let mut notes = Vec::new();
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => {
                notes.push(format!("{source}: skipped the byte-order mark at the start"));
                rest
            }
            None => bytes,
        };
        let text = match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => text,
            _ => {
                return Err(input_error!(
                    "{source} is not a text file: expected CSV in UTF-8 with the columns {}; export it as CSV",
                    required.join(",")
                ));
            }
        };
        if text.contains('\r') {
            notes.push(format!("{source}: has CRLF line ends; read as if they were LF"));
        }
        if !text.is_empty() && !text.ends_with(['\n', '\r']) {
            notes.push(format!("{source}: the last line has no line end; read as a whole line"));
        }
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let mut records = reader.records().map(|record| {
            let record = record.map_err(|error| input_error!("{source}: not readable as CSV: {error}"))?;
            // The reader's own line counts from the end of the previous record, before skipped lines.
            let end = record.position().map_or(0, |p| p.byte() as usize);
            let skipped = skipped_lines(&text[end..]);
            Ok((record.position().map_or(0, |p| p.line()) + skipped, record))
        });
        let Some(first) = records.next() else {
            return Err(input_error!(
                "{source} is empty: expected a header line with the columns {}",
                required.join(",")
            ));
        };
        let (header_line, first) = first?;
        let header: Vec<String> = first.iter().map(str::to_owned).collect();
        for (i, name) in header.iter().enumerate() {
            if !name.is_empty() && header[..i].contains(name) {
                return Err(input_error!(
                    "{source}, line {header_line}: the column {name} comes twice; remove or rename one"
                ));
            }
        }
        for name in required {
            if !header.iter().any(|h| h == name) {
                let near = header.iter().filter(|h| !did_you_mean(h, [*name]).is_empty()).collect::<Vec<_>>();
                let hint = match near.first() {
                    _ if header.len() == 1 && header[0].contains([';', '\t']) => {
                        " (fields are to be separated by commas)".to_owned()
                    }
                    Some(column) => format!(" (is it the column {column:?}?)"),
                    None => String::new(),
                };
                return Err(input_error!(
                    "{source}, line {header_line}: the column {name} is missing{hint}; found {}; \
                     expected at least {}",
                    header.join(","),
                    required.join(",")
                ));
            }
        }
        let rows = records.collect::<Result<Vec<_>>>()?;
        // Such a record swallows all lines to the end of the file, and may well have enough fields.
        if let Some((line, last)) = rows.last() {
            let start = last.position().map_or(0, |p| p.byte() as usize);
            if text[start..].matches('"').count() % 2 == 1 {
                return Err(input_error!(
                    "{source}, line {line}: a double quote opens here and never closes; close it, or write \"\" for \
                     a quote that belongs to the text"
                ));
            }
        }
        for (line, fields) in &rows {
            if fields.len() != header.len() {
                return Err(input_error!(
                    "{source}, line {line}: found {} fields, expected the header's {}; {}",
                    fields.len(),
                    header.len(),
                    if fields.len() < header.len() {
                        "fill in the missing ones (a blank field needs its comma too)"
                    } else {
                        "remove the extra ones, or put a field that has a comma in it between double quotes"
                    }
                ));
            }
        }
        Ok(Table { source: source.to_owned(), header, rows, notes })
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(line, fields)| Row { table: self, line: *line, fields })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The columns, in the order of the file.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// What was accepted although it is unusual.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Blank and comment lines at the start of `text`.
fn skipped_lines(text: &str) -> u64 {
    text.split_inclusive('\n')
        .take_while(|line| line.starts_with('#') || line.trim_end_matches(['\n', '\r']).is_empty())
        .count() as u64
}

impl<'a> Row<'a> {
    pub fn line(&self) -> u64 {
        self.line
    }

    /// "file, line N, column C", for messages.
    pub fn place(&self, column: &str) -> String {
        format!("{}, line {}, column {column}", self.table.source, self.line)
    }

    /// The field, `None` where it is blank or its column is absent.
    pub fn text(&self, column: &str) -> Option<&'a str> {
        let index = self.table.header.iter().position(|name| name == column)?;
        self.fields.get(index).filter(|field| !field.is_empty())
    }

    pub fn required_text(&self, column: &str) -> Result<&'a str> {
        self.text(column).ok_or_else(|| input_error!("{}: blank; a value is needed", self.place(column)))
    }

    /// A finite number within `range`, `None` where blank.
    pub fn number(&self, column: &str, range: std::ops::RangeInclusive<f64>) -> Result<Option<f64>> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let bounds = format!("expected a number from {} to {}", range.start(), range.end());
        let value: f64 = text.parse().map_err(|_| {
            input_error!("{}: found {text:?}; {bounds}, with a decimal point", self.place(column))
        })?;
        if !value.is_finite() || !range.contains(&value) {
            return Err(input_error!("{}: found {text}; {bounds}", self.place(column)));
        }
        // -0.0 passes the check for negatives and would print as such.
        Ok(Some(value + 0.0))
    }

    pub fn required_number(&self, column: &str, range: std::ops::RangeInclusive<f64>) -> Result<f64> {
        self.number(column, range)?
            .ok_or_else(|| input_error!("{}: blank; a number is needed", self.place(column)))
    }

    /// A whole number within `range`, `None` where blank.
    pub fn integer(&self, column: &str, range: std::ops::RangeInclusive<u32>) -> Result<Option<u32>> {
        let Some(text) = self.text(column) else { return Ok(None) };
        match text.parse() {
            Ok(value) if range.contains(&value) => Ok(Some(value)),
            _ => Err(input_error!(
                "{}: found {text:?}; expected a whole number from {} to {}",
                self.place(column),
                range.start(),
                range.end()
            )),
        }
    }

    pub fn required_integer(&self, column: &str, range: std::ops::RangeInclusive<u32>) -> Result<u32> {
        self.integer(column, range)?
            .ok_or_else(|| input_error!("{}: blank; a whole number is needed", self.place(column)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_an_editor() {
        let text = "# a comment\n\na,b\n1,2\n\n# another\n3,x\r\n\"4\n5\",y\n6,z\n";
        let table = Table::parse("t.csv", text.as_bytes(), &["a", "b"]).unwrap();
        let lines: Vec<u64> = table.rows().map(|r| r.line()).collect();
        assert_eq!(lines, [4, 7, 8, 10]);
    }

    #[test]
    fn a_field_is_checked_where_it_stands() {
        let table = Table::parse("t.csv", b"a,b\n1,NaN\n-1,inf\n", &["a"]).unwrap();
        let rows: Vec<_> = table.rows().collect();
        for (row, column, says) in [
            (rows[0], "b", "t.csv, line 2, column b: found NaN"),
            (rows[1], "b", "t.csv, line 3, column b: found inf"),
            (rows[1], "a", "t.csv, line 3, column a: found -1"),
        ] {
            let message = row.number(column, 0.0..=9.0).unwrap_err().to_string();
            assert!(message.starts_with(says), "{message}");
        }
    }
}
