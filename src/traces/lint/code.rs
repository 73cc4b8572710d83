//! The kinds of problems.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Runs refuse the trace.
    Error,
    /// Runs take the trace, and the result is likely not what was meant.
    Warning,
    /// Good to know: no problem.
    Info,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

macro_rules! codes {
    ($($code:ident $name:literal $severity:ident $what:literal $why:literal $fix:literal)*) => {
        /// A kind of problem.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $what] $code,)*
        }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$code,)*];

            /// Never changes: scripts go by it.
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }

            pub fn severity(self) -> Severity {
                match self { $(Code::$code => Severity::$severity,)* }
            }

            /// What is wrong.
            pub fn what(self) -> &'static str {
                match self { $(Code::$code => $what,)* }
            }

            /// Why it matters.
            pub fn why(self) -> &'static str {
                match self { $(Code::$code => $why,)* }
            }

            /// What to do.
            pub fn fix(self) -> &'static str {
                match self { $(Code::$code => $fix,)* }
            }
        }
    };
}

codes! {
    NotUtf8 "not-utf-8" Error
        "bytes that are not UTF-8"
        "text in another encoding reads as other characters, or not at all"
        "save the file as CSV in UTF-8"
    NulByte "nul-byte" Error
        "a NUL byte"
        "text has none: the file is damaged, or not text"
        "export it again, as CSV in UTF-8"
    EmptyFile "empty-file" Error
        "no line but comments"
        "there is nothing to run"
        "write the header job_id,submit_s,workload,gpus and a line per job"
    WrongDelimiter "wrong-delimiter" Error
        "fields that are not separated by commas"
        "the whole line reads as one field"
        "export with commas between fields and a decimal point in numbers"
    MissingColumn "missing-column" Error
        "a column that every trace has is not there"
        "runs need it of every job"
        "add the column, or turn the log into a trace with `aegis-sim trace import`"
    DuplicateColumn "duplicate-column" Error
        "a column comes twice"
        "it is open which of them counts"
        "remove or rename one"
    NoJobs "no-jobs" Error
        "a header without a job"
        "there is nothing to run"
        "add at least one line"
    UnclosedQuote "unclosed-quote" Error
        "a double quote that never closes"
        "all that follows is swallowed by one field"
        "close it, or write \"\" for a quote that belongs to the text"
    FieldCount "field-count" Error
        "more or fewer fields than the header has"
        "values stand under columns that are not theirs"
        "give each field its comma, blank ones too, and put a field that has a comma in it between double quotes"
    BlankField "blank-field" Error
        "a blank where each job needs a value"
        "the job cannot be placed in time, or at all"
        "fill it in, or take the job out"
    BadNumber "bad-number" Error
        "a number that is none, or out of its range"
        "the job cannot be simulated"
        "write a plain number in the column's unit"
    DateInNumber "date-in-number" Error
        "a date where seconds are expected"
        "times count in seconds from the start of the trace"
        "turn the log into a trace with `aegis-sim trace import`, which converts times with their time zone"
    DuplicateId "duplicate-id" Error
        "a job id that stands on an earlier line already"
        "records of a run go by the id"
        "give each job its own id"
    DuplicateRow "duplicate-row" Error
        "a line that repeats an earlier one"
        "the job would run twice"
        "take the repetition out, or give the job its own id if there were two"
    BlankWorkload "blank-workload" Error
        "a job without a workload"
        "what a job does to others on its GPU follows from its workload"
        "give the jobs workloads with `aegis-sim trace map`, or by hand"
    UnknownWorkload "unknown-workload" Error
        "a workload that the catalogue lacks"
        "its memory and activity are not known"
        "see `aegis-sim list workloads`, or give a catalogue of your own with --workloads"
    GpusDiffer "gpus-differ" Error
        "GPUs that are not those of the workload's profile, without duration_s"
        "its runtime on that number of GPUs is not known"
        "use the profile's count, or say with duration_s how long the job runs"
    ShareWithoutDuration "share-without-duration" Error
        "a gpu_share without duration_s"
        "the workload's runtime is that on whole GPUs, not on a share of them"
        "say with duration_s how long the job ran on its share, or leave gpu_share blank"
    GangTooLarge "gang-too-large" Warning
        "more GPUs than the largest server has"
        "a job never spans servers: runs give it up, and do that much less work"
        "give a larger server with --cluster, or take the job out"
    ByteOrderMark "byte-order-mark" Warning
        "a byte-order mark at the start"
        "runs skip it; other tools take it for a part of the first column's name"
        "save as UTF-8 without BOM"
    CrLf "crlf" Warning
        "line ends of Windows"
        "runs read them; other tools take them for a part of the last field"
        "convert the line ends to LF, for example with dos2unix"
    NoFinalNewline "no-final-newline" Warning
        "the last line does not end"
        "the file may have been cut off; what is appended to it joins the last job"
        "check that the file is complete, and end its last line"
    MultiLineField "multi-line-field" Warning
        "a field that spans lines"
        "a quote that is missing further up swallows jobs unseen"
        "check the quotes of the line, and take line ends out of the text"
    MisspeltColumn "misspelt-column" Warning
        "a column whose name is nearly that of one that runs read"
        "runs ignore it, and go on without what it says"
        "rename it, if that is what it holds and in the same unit"
    Unsorted "unsorted" Warning
        "jobs out of the order of submission"
        "runs sort them, and ties keep the order of the file; line numbers and ids no longer tell the order"
        "sort by submit_s, for example with `aegis-sim trace convert --to csv`"
    UnixTime "unix-time" Warning
        "submissions that look like seconds since 1970"
        "times of records and figures start decades into the trace"
        "subtract the first submission"
    LateStart "late-start" Warning
        "a first submission more than a day after time 0"
        "times of records and figures start there"
        "subtract the first submission, unless the trace is a part of a longer one whose clock it keeps"
    LongSpan "long-span" Warning
        "submissions over more than five years"
        "they look like milliseconds or microseconds: the cluster would be idle between any two jobs"
        "divide submit_s by 1000 or 1000000"
    LongDurations "long-durations" Warning
        "half of the jobs run for two days at least"
        "durations look like milliseconds: the queue would only ever grow"
        "divide duration_s by 1000, or allow the code if they are right"
    ZeroDuration "zero-duration" Warning
        "a job that takes no time"
        "it waits in the queue and does nothing; logs have such jobs where a start or an end is missing"
        "take it out, or give it the time that it took"
    MissingDuration "missing-duration" Warning
        "a blank duration_s among filled ones"
        "these jobs run for as long as their workload's profile says, the others as the trace says"
        "fill it in, or leave all blank"
    DominatingJob "dominating-job" Warning
        "one job that outlasts all others together"
        "the makespan is that of this job, whatever the policy does"
        "check its duration; cut it, or take the job out"
    LargeGap "large-gap" Warning
        "a gap that is half of the trace"
        "the queue runs empty in it, and what is before and after are two traces"
        "check that no jobs are missing, or run the parts one by one"
    EqualSubmitTimes "equal-submit-times" Info
        "jobs that are submitted at the same time"
        "they queue in the order of the file"
        "nothing, if the file has them in the order of their submission"
    IgnoredColumn "ignored-column" Info
        "a column that runs do not read"
        "it has no part in results"
        "nothing"
}

impl ValueEnum for Code {
    fn value_variants<'a>() -> &'a [Code] {
        Code::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.what()))
    }
}

/// The codes as a table in Markdown, for docs.
pub fn codes_markdown() -> String {
    let mut text =
        "| code | severity | what | why it matters | what to do |\n|---|---|---|---|---|\n".to_owned();
    for code in Code::ALL {
        let (name, severity) = (code.name(), code.severity().name());
        text += &format!("| `{name}` | {severity} | {} | {} | {} |\n", code.what(), code.why(), code.fix());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_each_is_its_own() {
        for (i, code) in Code::ALL.iter().enumerate() {
            let name = code.name();
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{name}"
            );
            assert!(Code::ALL[..i].iter().all(|other| other.name() != name), "{name}");
        }
    }

    #[test]
    fn the_document_has_the_codes_as_they_are() {
        let document = include_str!("../../../docs/trace-lint.md");
        assert!(
            document.contains(&codes_markdown()),
            "put this into docs/trace-lint.md:\n{}",
            codes_markdown()
        );
    }
}
