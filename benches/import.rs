//! `trace import` beside a bare read of the same file, and its memory on a log of a gigabyte.
//!
//! `cargo bench --bench import -- speed` or `memory` does one of both. Limits: half the speed of the csv crate, or of serde_json's streaming reader for Philly; a peak of 200 MiB.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use aegis_sim::traces::import::{ImportOptions, LogFormat, Source, import};
use rand_distr::{Distribution, LogNormal};
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const REPEATS: usize = 5;
const SPEED_MIB: u64 = 100;
const MEMORY_MIB: u64 = 1024;
const LEAST_RATIO: f64 = 0.5;
const MOST_PEAK_MIB: u64 = 200;

/// What a generated job is made of.
struct Job {
    number: u64,
    /// Seconds since the log's first day.
    submit_s: u64,
    wait_s: u64,
    run_s: u64,
    gpus: u64,
}

/// Jobs without end. Half of them have no GPU, as in Helios.
fn jobs() -> impl Iterator<Item = Job> {
    let mut draws = ChaCha8Rng::seed_from_u64(5);
    let runtime = LogNormal::new(6.0, 2.0).unwrap();
    let mut submit_s = 0;
    (0..).map(move |number| {
        submit_s += draws.next_u64() % 4;
        Job {
            number,
            submit_s,
            wait_s: draws.next_u64() % 600,
            run_s: runtime.sample(&mut draws) as u64,
            gpus: [0, 0, 0, 0, 1, 1, 1, 2, 4, 8][(draws.next_u64() % 10) as usize],
        }
    })
}

/// As logs write it, `s` seconds into 2017; months have 28 days here.
fn date(s: u64) -> String {
    let (day, s) = (s / 86_400, s % 86_400);
    let (year, month, day) = (2017 + day / 336, day / 28 % 12 + 1, day % 28 + 1);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}

fn helios(job: &Job) -> String {
    let Job { number, submit_s, wait_s, run_s, gpus } = *job;
    let (start, end) = (submit_s + wait_s, submit_s + wait_s + run_s);
    let state = ["COMPLETED", "CANCELLED", "FAILED"][(number % 3) as usize];
    format!(
        "{number},u{},vc{},{gpus},{},1,{state},{},{},{},{run_s},{wait_s}\n",
        number % 277,
        number % 27,
        4 * gpus + 1,
        date(submit_s),
        date(start),
        date(end)
    )
}

fn philly(job: &Job) -> String {
    let Job { number, submit_s, wait_s, run_s, gpus } = *job;
    let gpus: Vec<String> = (0..gpus.max(1)).map(|gpu| format!("\"gpu{gpu}\"")).collect();
    let attempt = |start: u64| {
        format!(
            "{{\"start_time\": \"{}\", \"end_time\": \"{}\", \"detail\": [{{\"ip\": \"m{}\", \"gpus\": [{}]}}]}}",
            date(start),
            date(start + run_s),
            number % 500,
            gpus.join(", ")
        )
    };
    let start = submit_s + wait_s;
    let attempts = if number % 5 == 0 {
        format!("{}, {}", attempt(start), attempt(start + run_s + 9))
    } else {
        attempt(start)
    };
    format!(
        "{}{{\"status\": \"Pass\", \"vc\": \"vc{}\", \"jobid\": \"application_1506638472019_{number}\", \"attempts\": \
         [{attempts}], \"submitted_time\": \"{}\", \"user\": \"u{}\"}}",
        if number == 0 { "[\n" } else { ",\n" },
        number % 14,
        date(submit_s),
        number % 319
    )
}

fn generate(format: LogFormat, mib: u64, path: &Path) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let header =
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n";
    let mut bytes = 0;
    if format == LogFormat::Helios {
        out.write_all(header.as_bytes()).unwrap();
    }
    for job in jobs() {
        let text = if format == LogFormat::Helios { helios(&job) } else { philly(&job) };
        out.write_all(text.as_bytes()).unwrap();
        bytes += text.len() as u64;
        if bytes >= mib << 20 {
            break;
        }
    }
    if format == LogFormat::Philly {
        out.write_all(b"]\n").unwrap();
    }
    out.flush().unwrap();
}

/// How records are read without any use for them.
#[derive(Clone, Copy, PartialEq)]
enum Bare {
    /// Into memory that is there already; of JSON, nothing is kept.
    Bytes,
    /// As text, each into a record of its own (`for record in reader.records()`); of JSON, into values.
    Records,
}

/// The records of a file, read and let go.
fn bare_read(format: LogFormat, path: &Path, bare: Bare) -> u64 {
    let file = File::open(path).unwrap();
    if format == LogFormat::Helios {
        let mut reader = csv::Reader::from_reader(file);
        if bare == Bare::Records {
            let mut count = 0;
            for record in reader.records() {
                black_box(record.unwrap());
                count += 1;
            }
            return count;
        }
        let mut record = csv::ByteRecord::new();
        let mut count = 0;
        while reader.read_byte_record(&mut record).unwrap() {
            count += 1;
        }
        return count;
    }
    struct Count(Bare);
    impl<'de> Visitor<'de> for Count {
        type Value = u64;

        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut records: A) -> Result<u64, A::Error> {
            let mut count = 0;
            loop {
                let is_one = match self.0 {
                    Bare::Bytes => records.next_element::<IgnoredAny>()?.is_some(),
                    Bare::Records => black_box(records.next_element::<serde_json::Value>()?).is_some(),
                };
                if !is_one {
                    break;
                }
                count += 1;
            }
            Ok(count)
        }
    }
    let mut reader = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 18, file));
    reader.deserialize_seq(Count(bare)).unwrap()
}

fn import_log(format: LogFormat, path: &Path) -> u64 {
    let options = ImportOptions::new(format).unwrap();
    let out = path.with_extension("out");
    let mut file = BufWriter::new(File::create(&out).unwrap());
    let sources = [Source::File(path.to_str().unwrap().to_owned())];
    import(&options, &sources, &mut file, &out, &|_| {}).unwrap().rows_read()
}

fn fastest(mut work: impl FnMut() -> u64) -> Duration {
    let time = |work: &mut dyn FnMut() -> u64| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    (0..REPEATS).map(|_| time(&mut work)).min().unwrap()
}

/// Most memory that this process ever had, where the system tells.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib / 1024)
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let formats = [LogFormat::Helios, LogFormat::Philly];
    let asked_for = |part: &str| {
        let mut parts = std::env::args().filter(|arg| ["speed", "memory"].contains(&arg.as_str())).peekable();
        parts.peek().is_none() || parts.any(|asked| asked == part)
    };
    // Memory first: the peak is that of all that the process did before.
    for format in formats.into_iter().filter(|_| asked_for("memory")) {
        generate(format, MEMORY_MIB, &path);
        let start = Instant::now();
        let records = import_log(format, &path);
        let seconds = start.elapsed().as_secs_f64();
        let peak = peak_mib()
            .map_or("not known here".to_owned(), |peak| format!("{peak} MiB (limit {MOST_PEAK_MIB})"));
        println!("{}: {MEMORY_MIB} MiB, {records} records in {seconds:.1} s, peak {peak}", format.name());
    }
    for format in formats.into_iter().filter(|_| asked_for("speed")) {
        generate(format, SPEED_MIB, &path);
        let import_s = fastest(|| import_log(format, &path)).as_secs_f64();
        println!(
            "{}: {SPEED_MIB} MiB imported in {import_s:.3} s (limit: {LEAST_RATIO} of the speed of a bare read)",
            format.name()
        );
        for (bare, what) in [(Bare::Records, "records one by one"), (Bare::Bytes, "into the same memory")] {
            let bare_s = fastest(|| bare_read(format, &path, bare)).as_secs_f64();
            println!("  bare read, {what}: {bare_s:.3} s, {:.2} of its speed", bare_s / import_s);
        }
    }
}
