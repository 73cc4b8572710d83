//! The records of a JSON log, one by one.

use std::io::BufRead;

use super::rows::Rows;
use super::source::{MAX_RECORD_BYTES, explain};
use crate::error::{Error, Result, input_error};

/// The objects of a JSON array, or one behind another, as text: so that none but the one in hand is in memory.
pub(super) struct JsonRows {
    name: String,
    source: Box<dyn BufRead>,
    line: u64,
    at: At,
    in_array: bool,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    ObjectOrEnd,
    Object,
    CommaOrEnd,
    End,
}

impl JsonRows {
    pub fn new(name: &str, source: Box<dyn BufRead>) -> JsonRows {
        JsonRows { name: name.to_owned(), source, line: 1, at: At::Start, in_array: false }
    }

    fn cut_off(&self, start: u64) -> Error {
        input_error!(
            "{}: ends in the middle of the record that starts on line {start}: the file was cut off; get it again, or end \
             it with ] behind the last whole record",
            self.name
        )
    }

    /// Up to the brace that opens the next object; `false` at the end.
    fn skip_to_object(&mut self) -> Result<bool> {
        if self.at == At::Start {
            let head = self.source.fill_buf().map_err(|e| explain(&self.name, self.line, e))?;
            if head.starts_with(b"\xef\xbb\xbf") {
                self.source.consume(3);
            }
        }
        loop {
            let available = self.source.fill_buf().map_err(|e| explain(&self.name, self.line, e))?;
            let Some(&byte) = available.first() else {
                return match self.at {
                    At::End => Ok(false),
                    At::ObjectOrEnd if !self.in_array => Ok(false),
                    At::Start => Err(input_error!("{} is empty: expected a JSON array of jobs", self.name)),
                    _ => Err(input_error!(
                        "{}: ends after line {} without the ] of its array: the file was cut off; get it again, or add ] \
                         if all is there",
                        self.name,
                        self.line
                    )),
                };
            };
            self.at = match (byte, self.at) {
                (b'\n', at) => {
                    self.line += 1;
                    at
                }
                (b' ' | b'\t' | b'\r', at) => at,
                (b'[', At::Start) => {
                    self.in_array = true;
                    At::ObjectOrEnd
                }
                (b'{', At::Start | At::ObjectOrEnd | At::Object) => return Ok(true),
                (b',', At::CommaOrEnd) => At::Object,
                (b']', At::ObjectOrEnd | At::CommaOrEnd) if self.in_array => At::End,
                (other, _) => {
                    return Err(input_error!(
                        "{}, line {}: found {:?}; expected {}",
                        self.name,
                        self.line,
                        char::from(other),
                        match self.at {
                            At::Start => "a JSON array of jobs, [ first",
                            At::CommaOrEnd => "a comma or ] between the records",
                            At::End => "nothing behind the ] of the array",
                            At::ObjectOrEnd | At::Object => "the { of a record",
                        }
                    ));
                }
            };
            self.source.consume(1);
        }
    }
}

impl Rows for JsonRows {
    type Row = Vec<u8>;

    fn next(&mut self, row: &mut Vec<u8>) -> Result<Option<u64>> {
        row.clear();
        if !self.skip_to_object()? {
            return Ok(None);
        }
        let start = self.line;
        let (mut depth, mut in_text, mut escaped) = (0u32, false, false);
        loop {
            let available = self.source.fill_buf().map_err(|e| explain(&self.name, start, e))?;
            if available.is_empty() {
                return Err(self.cut_off(start));
            }
            let mut length = available.len();
            let mut at = 0;
            while at < length {
                if in_text {
                    if std::mem::take(&mut escaped) {
                        at += 1;
                        continue;
                    }
                    let Some(special) = memchr::memchr2(b'"', b'\\', &available[at..length]) else { break };
                    at += special + 1;
                    escaped = available[at - 1] == b'\\';
                    in_text = escaped;
                    continue;
                }
                match available[at] {
                    b'"' => in_text = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            length = at + 1;
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            let text = &available[..length];
            self.line += memchr::memchr_iter(b'\n', text).count() as u64;
            row.extend_from_slice(text);
            self.source.consume(length);
            if depth == 0 {
                self.at = if self.in_array { At::CommaOrEnd } else { At::ObjectOrEnd };
                return Ok(Some(start));
            }
            if row.len() as u64 > MAX_RECORD_BYTES {
                return Err(input_error!(
                    "{}, line {start}: a record that goes on for more than {} MiB; expected one object per job",
                    self.name,
                    MAX_RECORD_BYTES >> 20
                ));
            }
        }
    }

    fn lines(&self) -> u64 {
        self.line
    }

    fn bytes(row: &Vec<u8>) -> usize {
        row.len()
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::super::rows::tests::all;
    use super::*;

    fn json(text: &'static str) -> Result<Vec<(u64, String)>> {
        // A small buffer, so that records fall on its borders.
        let source = || Box::new(BufReader::with_capacity(5, text.as_bytes()));
        let (rows, _) = all(|| JsonRows::new("f.json", source()))?;
        Ok(rows.into_iter().map(|(line, row)| (line, String::from_utf8(row).unwrap())).collect())
    }

    #[test]
    fn objects_are_taken_out_of_an_array() {
        let one = (2, r#"{"a": "}\"{", "b": [{}]}"#.to_owned());
        assert_eq!(
            json("[\n{\"a\": \"}\\\"{\", \"b\": [{}]} ,\n\n {}]\n").unwrap(),
            [one, (4, "{}".to_owned())]
        );
        assert_eq!(json("\u{feff}[]").unwrap(), []);
        assert_eq!(json("{}\n{}").unwrap(), [(1, "{}".to_owned()), (2, "{}".to_owned())]);
        for (text, says) in [
            ("[{}\n{}]", "f.json, line 2: found '{'; expected a comma"),
            ("[{},\n", "ends after line 2 without the ]"),
            ("[{},\n {\"a\": ", "in the middle of the record that starts on line 2"),
            ("", "is empty"),
            ("[1]", "line 1: found '1'; expected the { of a record"),
            ("[] x", "expected nothing behind the ]"),
            ("a,b", "expected a JSON array of jobs"),
        ] {
            let message = json(text).unwrap_err().to_string();
            assert!(message.contains(says), "{text}: {message}");
        }
    }
}
