//! A CSV file held as text with the line of every row, so that a message can say where.

use std::ops::RangeInclusive;

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
        let mut records = records(text)
            .map(|record| record.map_err(|error| input_error!("{source}: not readable as CSV: {error}")));
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
            if never_closes(&text[start..]) {
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

/// The records of CSV text, each with its line: fields are trimmed, and lines that start with `#` are comments.
pub(crate) fn records(text: &str) -> impl Iterator<Item = csv::Result<(u64, csv::StringRecord)>> {
    let reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    reader.into_records().map(move |record| {
        let record = record?;
        // The reader's own line counts from the end of the previous record, before skipped lines.
        let end = record.position().map_or(0, |p| p.byte() as usize);
        let skipped = skipped_lines(&text[end..]);
        Ok((record.position().map_or(0, |p| p.line()) + skipped, record))
    })
}

/// Whether the record at the start of `text`, behind blank and comment lines, has a field whose quote never closes.
pub(crate) fn never_closes(text: &str) -> bool {
    let lines = text.split_inclusive('\n').take(skipped_lines(text) as usize);
    let record = &text[lines.map(str::len).sum()..];
    let (mut quoted, mut field_starts) = (false, true);
    let mut bytes = record.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if quoted => quoted = bytes.next_if_eq(&b'"').is_some(),
            b'"' => quoted = field_starts,
            b'\n' | b'\r' if !quoted => return false,
            _ => {}
        }
        field_starts = byte == b',';
    }
    quoted
}

/// A finite number within `range`, or what was found and expected.
pub(crate) fn parse_number(text: &str, range: &RangeInclusive<f64>) -> Result<f64, String> {
    let bounds = || format!("expected a number from {} to {}", range.start(), range.end());
    let value: f64 =
        text.parse().map_err(|_| format!("found {text:?}; {}, with a decimal point", bounds()))?;
    if !value.is_finite() || !range.contains(&value) {
        return Err(format!("found {text}; {}", bounds()));
    }
    // -0.0 passes the check for negatives and would print as such.
    Ok(value + 0.0)
}

/// A whole number within `range`, or what was found and expected.
pub(crate) fn parse_integer(text: &str, range: &RangeInclusive<u32>) -> Result<u32, String> {
    match text.parse() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => {
            Err(format!("found {text:?}; expected a whole number from {} to {}", range.start(), range.end()))
        }
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

    /// The field as a parser has it, `None` where blank.
    pub fn parsed<T>(
        &self,
        column: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>> {
        let parsed = self.text(column).map(parse).transpose();
        parsed.map_err(|problem| input_error!("{}: {problem}", self.place(column)))
    }

    /// A finite number within `range`, `None` where blank.
    pub fn number(&self, column: &str, range: RangeInclusive<f64>) -> Result<Option<f64>> {
        self.parsed(column, |text| parse_number(text, &range))
    }

    pub fn required_number(&self, column: &str, range: RangeInclusive<f64>) -> Result<f64> {
        self.number(column, range)?
            .ok_or_else(|| input_error!("{}: blank; a number is needed", self.place(column)))
    }

    /// A whole number within `range`, `None` where blank.
    pub fn integer(&self, column: &str, range: RangeInclusive<u32>) -> Result<Option<u32>> {
        self.parsed(column, |text| parse_integer(text, &range))
    }

    pub fn required_integer(&self, column: &str, range: RangeInclusive<u32>) -> Result<u32> {
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
    fn only_a_quote_that_opens_the_last_record_to_the_end_of_the_file_is_refused() {
        for (last, closes) in [
            ("\"x\",1\n", true),
            ("\"x\"\"y\",1\n", true),
            ("5\" disk,1\n", true),
            ("# 5\" disk\n\nx,1\n# \"\n", true),
            ("\"x,1\n", false),
            ("x,\"1\ny,\"\"2\n", false),
            ("x,\"", false),
        ] {
            let parsed = Table::parse("t.csv", format!("a,b\n{last}").as_bytes(), &["a"]);
            assert_eq!(parsed.is_ok(), closes, "{last}");
        }
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
