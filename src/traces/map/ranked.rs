use crate::engine::Time;
use crate::metrics::quantile_by;

/// A multiset of times out of a known set, with its quantiles: a Fenwick tree over their ranks.
pub(super) struct Ranked {
    values: Vec<Time>,
    /// Counts, from index 1.
    tree: Vec<u32>,
    len: usize,
    least: usize,
}

impl Ranked {
    /// Empty; what is added later must be among `values`, of which there is at least one.
    pub fn new(mut values: Vec<Time>) -> Ranked {
        values.sort_unstable();
        values.dedup();
        Ranked { tree: vec![0; values.len() + 1], values, len: 0, least: 0 }
    }

    pub fn add(&mut self, value: Time) {
        self.update(value, |count| *count += 1);
        self.len += 1;
        self.least += usize::from(value == self.values[0]);
    }

    pub fn remove(&mut self, value: Time) {
        self.update(value, |count| *count -= 1);
        self.len -= 1;
        self.least -= usize::from(value == self.values[0]);
    }

    fn update(&mut self, value: Time, change: impl Fn(&mut u32)) {
        let mut index = self.values.partition_point(|&known| known < value) + 1;
        while index < self.tree.len() {
            change(&mut self.tree[index]);
            index += index & index.wrapping_neg();
        }
    }

    /// How often the smallest of the known values is in.
    pub fn count_of_least(&self) -> usize {
        self.least
    }

    /// In seconds; NaN if it is empty.
    pub fn quantile(&self, q: f64) -> f64 {
        quantile_by(self.len, q, |index| self.nth(index).as_s())
    }

    /// The value with `index` others before it.
    fn nth(&self, index: usize) -> Time {
        let (mut at, mut before) = (0, 0);
        let mut step = self.tree.len().next_power_of_two();
        while step > 0 {
            let next = at + step;
            if let Some(&count) = self.tree.get(next).filter(|&&count| before + count as usize <= index) {
                (at, before) = (next, before + count as usize);
            }
            step /= 2;
        }
        self.values[at]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::quantile_of_sorted;

    proptest! {
        #[test]
        fn its_quantiles_are_those_of_a_sorted_list(
            values in proptest::collection::vec(0i64..20, 1..50),
            removed in 0usize..50,
            q in 0.0..=1.0f64,
        ) {
            let times: Vec<Time> = values.into_iter().map(Time::from_whole_s).collect();
            let mut ranked = Ranked::new(times.clone());
            times.iter().for_each(|&time| ranked.add(time));
            let removed = removed.min(times.len() - 1);
            times[..removed].iter().for_each(|&time| ranked.remove(time));
            let mut left: Vec<f64> = times[removed..].iter().map(|time| time.as_s()).collect();
            left.sort_by(f64::total_cmp);
            prop_assert_eq!(ranked.quantile(q), quantile_of_sorted(&left, q));
            let least = *times.iter().min().unwrap();
            prop_assert_eq!(ranked.count_of_least(), times[removed..].iter().filter(|&&t| t == least).count());
        }
    }
}
