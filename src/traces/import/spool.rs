//! Jobs on their way from the order of their files to that of their submission, however many they are.

use std::io::{self, Read, Write};

use extsort::{ExternalSorter, PushExternalSorter, Sortable, SortedIterator};

use crate::workload::OpenRow;

/// A job with its row of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spooled {
    pub submit_us: i64,
    /// Number among the jobs that were kept at first.
    pub number: u64,
    pub file: u32,
    pub line: u64,
    pub gpus: u32,
    pub row: OpenRow,
}

impl Sortable for Spooled {
    fn encode<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let mut head = [0; 40];
        head[..8].copy_from_slice(&self.submit_us.to_le_bytes());
        head[8..16].copy_from_slice(&self.number.to_le_bytes());
        head[16..20].copy_from_slice(&self.file.to_le_bytes());
        head[20..28].copy_from_slice(&self.line.to_le_bytes());
        head[28..32].copy_from_slice(&(self.row.gap as u32).to_le_bytes());
        head[32..36].copy_from_slice(&self.gpus.to_le_bytes());
        head[36..].copy_from_slice(&(self.row.text.len() as u32).to_le_bytes());
        out.write_all(&head)?;
        out.write_all(&self.row.text)
    }

    fn decode<R: Read>(source: &mut R) -> io::Result<Spooled> {
        let mut head = [0; 40];
        source.read_exact(&mut head)?;
        let long = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or_default());
        let short = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap_or_default());
        let mut text = vec![0; short(36) as usize];
        source.read_exact(&mut text)?;
        Ok(Spooled {
            submit_us: long(0) as i64,
            number: long(8),
            file: short(16),
            line: long(20),
            gpus: short(32),
            row: OpenRow { text, gap: short(28) as usize },
        })
    }
}

/// An id's hash in the upper bits and its job's number in the lower 40.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct IdEntry(u128);

const NUMBER_BITS: u32 = 40;

impl Sortable for IdEntry {
    fn encode<W: Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(&self.0.to_le_bytes())
    }

    fn decode<R: Read>(source: &mut R) -> io::Result<IdEntry> {
        let mut bytes = [0; 16];
        source.read_exact(&mut bytes)?;
        Ok(IdEntry(u128::from_le_bytes(bytes)))
    }
}

type BySubmission = fn(&Spooled, &Spooled) -> std::cmp::Ordering;
type ById = fn(&IdEntry, &IdEntry) -> std::cmp::Ordering;

/// Sorted in memory up to so many, in files from there on: about 100 MB of jobs, and 16 MB of ids.
const JOBS_IN_MEMORY: usize = 700_000;
const IDS_IN_MEMORY: usize = 1_000_000;

/// Takes jobs in any order and gives them back sorted, without those whose id came before.
pub(super) struct Spool {
    jobs: PushExternalSorter<Spooled, BySubmission>,
    ids: PushExternalSorter<IdEntry, ById>,
    count: u64,
}

impl Spool {
    pub fn new() -> Spool {
        let by_submission: BySubmission = |a, b| (a.submit_us, a.number).cmp(&(b.submit_us, b.number));
        let by_id: ById = |a, b| a.cmp(b);
        Spool {
            jobs: ExternalSorter::new().with_segment_size(JOBS_IN_MEMORY).pushed_by(by_submission),
            ids: ExternalSorter::new().with_segment_size(IDS_IN_MEMORY).pushed_by(by_id),
            count: 0,
        }
    }

    pub fn push(&mut self, id: &str, mut job: Spooled) -> io::Result<()> {
        let hash = xxhash_rust::xxh3::xxh3_128(id.as_bytes());
        self.ids.push(IdEntry(hash >> NUMBER_BITS << NUMBER_BITS | u128::from(self.count)))?;
        job.number = self.count;
        self.count += 1;
        self.jobs.push(job)
    }

    /// All jobs by submission, and which of them to leave out.
    pub fn finish(self) -> io::Result<(SortedIterator<Spooled, BySubmission>, Repeated)> {
        let mut repeated = Repeated { bits: Vec::new(), count: 0, of: self.count };
        let mut before = None;
        for entry in self.ids.done()? {
            let IdEntry(entry) = entry?;
            let hash = entry >> NUMBER_BITS;
            if before == Some(hash) {
                repeated.insert(entry as u64 & ((1 << NUMBER_BITS) - 1));
            }
            before = Some(hash);
        }
        Ok((self.jobs.done()?, repeated))
    }
}

/// Numbers of the jobs whose id an earlier job has: a bit for each job.
pub(super) struct Repeated {
    bits: Vec<u64>,
    count: u64,
    of: u64,
}

impl Repeated {
    fn insert(&mut self, number: u64) {
        self.bits.resize((self.of as usize).div_ceil(64), 0);
        self.bits[(number / 64) as usize] |= 1 << (number % 64);
        self.count += 1;
    }

    pub fn contains(&self, number: u64) -> bool {
        self.bits.get((number / 64) as usize).is_some_and(|bits| bits >> (number % 64) & 1 == 1)
    }

    /// How many jobs are left.
    pub fn others(&self) -> u64 {
        self.of - self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_jobs_than_memory_is_set_aside_for() {
        let mut spool = Spool::new();
        let count = JOBS_IN_MEMORY as u64 * 2 + 7;
        for i in 0..count {
            // Every tenth has the id of the one before; each submission is that of many jobs.
            let id = if i % 10 == 9 { i - 1 } else { i };
            let text = format!("{id},,,1,5\n");
            let row = OpenRow { gap: text.find(',').unwrap() + 1, text: text.into_bytes() };
            let submit_us = (i * 7919 % 1000) as i64;
            spool
                .push(&id.to_string(), Spooled { submit_us, number: 0, file: 3, line: i + 2, gpus: 1, row })
                .unwrap();
        }
        let (jobs, repeated) = spool.finish().unwrap();
        assert_eq!(repeated.others(), count - count / 10);
        let (mut before, mut left) = (None, 0);
        for job in jobs {
            let job = job.unwrap();
            assert!(before < Some((job.submit_us, job.number)));
            before = Some((job.submit_us, job.number));
            assert_eq!((job.file, job.line), (3, job.number + 2));
            assert_eq!(repeated.contains(job.number), job.number % 10 == 9);
            left += u64::from(!repeated.contains(job.number));
        }
        assert_eq!(left, count - count / 10);
    }
}
