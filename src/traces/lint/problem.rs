use std::collections::HashMap;

use super::code::{Code, Severity};

/// Lines that a problem names.
const LINES: usize = 10;

/// All problems of one kind, in one column where it has one.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub code: Code,
    /// The column's name in the file.
    pub column: Option<String>,
    /// How many there are.
    pub count: u64,
    /// Where the first ones stand, ascending; none for problems of the whole file.
    pub lines: Vec<u64>,
    /// What was found, in the first place.
    pub message: String,
    pub fix: String,
}

impl Problem {
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// Problems as they are found, counted by kind.
#[derive(Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
    index: HashMap<(Code, Option<usize>), usize>,
}

impl Problems {
    /// Counts a problem. `column`: its place in the header and its name.
    pub fn add(
        &mut self,
        code: Code,
        line: Option<u64>,
        column: Option<(usize, &str)>,
        message: impl FnOnce() -> String,
    ) {
        let key = (code, column.map(|(index, _)| index));
        let found = &mut self.found;
        let index = *self.index.entry(key).or_insert_with(|| {
            found.push(Problem {
                code,
                column: column.map(|(_, name)| name.to_owned()),
                count: 0,
                lines: Vec::new(),
                message: message(),
                fix: code.fix().to_owned(),
            });
            found.len() - 1
        });
        let problem = &mut self.found[index];
        problem.count += 1;
        if let Some(line) = line.filter(|_| problem.lines.len() < LINES) {
            problem.lines.push(line);
        }
    }

    /// The first problem of a kind, to say more of it.
    pub fn get_mut(&mut self, code: Code) -> Option<&mut Problem> {
        self.found.iter_mut().find(|problem| problem.code == code)
    }

    /// The worst first, then by line.
    pub fn sorted(mut self) -> Vec<Problem> {
        self.found.sort_by(|a, b| {
            let key = |p: &Problem| (p.severity(), p.lines.first().copied(), p.code);
            key(a).cmp(&key(b)).then_with(|| a.column.cmp(&b.column))
        });
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_one_entry_however_often_it_is_found() {
        let mut problems = Problems::default();
        problems.add(Code::CrLf, None, None, || "crlf".to_owned());
        for line in 2..1_000_002 {
            problems.add(Code::BadNumber, Some(line), Some((1, "submit_s")), || format!("line {line}"));
        }
        problems.add(Code::BadNumber, Some(7), Some((3, "gpus")), String::new);
        let found = problems.sorted();
        assert_eq!(found.iter().map(|p| p.count).collect::<Vec<_>>(), [1_000_000, 1, 1]);
        assert_eq!((found[0].lines.len(), found[0].lines[9], found[0].message.as_str()), (10, 11, "line 2"));
    }
}
