/// Rungs of successive halving: on each the best third of the one before, under three times as many seeds. The defaults
/// are on every rung, to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub rungs: Vec<Rung>,
    pub traces: usize,
}

/// How many settings run under how many seeds, the defaults among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rung {
    pub candidates: usize,
    /// Those of earlier rungs included, whose runs are kept.
    pub seeds: u64,
}

const KEPT: usize = 3;

impl Plan {
    /// The most candidates for at most `budget` runs: on as few rungs as a whole space of `space` settings allows, the
    /// defaults among them, and else on as many as there are down to one seed. `None` where the budget is too small for
    /// one setting beside the defaults.
    pub fn within(budget: usize, traces: usize, training_seeds: u64, space: usize) -> Option<Plan> {
        let mut seeds = vec![training_seeds];
        while let Some(fewer) = seeds.first().map(|first| first / KEPT as u64).filter(|fewer| *fewer > 0) {
            seeds.insert(0, fewer);
        }
        let plans = (0..seeds.len()).rev().filter_map(|first| {
            let plan = |others| Plan::of(others, &seeds[first..], traces);
            let fits = |others: usize| plan(others).runs() <= budget;
            if !fits(1) || space < 2 {
                return None;
            }
            // Most that fit: `low` does, `high` does not or is more than there are.
            let (mut low, mut high) = (1, space.min(budget + 1));
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if fits(middle) { low = middle } else { high = middle }
            }
            Some(plan(low))
        });
        let plans: Vec<Plan> = plans.collect();
        let all = plans.iter().find(|plan| plan.candidates() == space);
        all.or_else(|| plans.iter().max_by_key(|plan| plan.candidates())).cloned()
    }

    /// A plan for `others` settings beside the defaults.
    pub(super) fn of(others: usize, seeds: &[u64], traces: usize) -> Plan {
        let mut others = others;
        let rung = |&seeds: &u64| {
            let rung = Rung { candidates: others + 1, seeds };
            others = others.div_ceil(KEPT);
            rung
        };
        Plan { rungs: seeds.iter().map(rung).collect(), traces }
    }

    /// The same rungs for fewer settings.
    pub(super) fn with_candidates(&self, candidates: usize) -> Plan {
        let seeds: Vec<u64> = self.rungs.iter().map(|rung| rung.seeds).collect();
        Plan::of(candidates.saturating_sub(1), &seeds, self.traces)
    }

    pub fn candidates(&self) -> usize {
        self.rungs.first().map_or(0, |rung| rung.candidates)
    }

    /// Runs of all rungs on all traces.
    pub fn runs(&self) -> usize {
        let mut before = 0;
        let rungs = self.rungs.iter().map(|rung| {
            let seeds = rung.seeds - before;
            before = rung.seeds;
            rung.candidates.saturating_mul(seeds as usize)
        });
        rungs.fold(0, usize::saturating_add).saturating_mul(self.traces)
    }
}

/// The best `count` of some candidates, by `rank` and then by number; candidate 0, the defaults, in front of them.
pub(super) fn survivors(
    mut candidates: Vec<usize>,
    count: usize,
    rank: impl Fn(usize, usize) -> std::cmp::Ordering,
) -> Vec<usize> {
    candidates.retain(|&candidate| candidate != 0);
    candidates.sort_by(|&a, &b| rank(a, b).then(a.cmp(&b)));
    candidates.truncate(count.saturating_sub(1));
    candidates.insert(0, 0);
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rungs(plan: &Plan) -> Vec<(usize, u64)> {
        plan.rungs.iter().map(|rung| (rung.candidates, rung.seeds)).collect()
    }

    #[test]
    fn budgets_are_kept_and_used() {
        for budget in [54, 55, 100, 999, 4000, 100_000] {
            for (traces, seeds) in [(1, 27), (1, 1), (2, 10), (3, 9)] {
                let plan = Plan::within(budget, traces, seeds, usize::MAX).unwrap();
                assert!(plan.runs() <= budget, "{budget} {plan:?}");
                assert_eq!(plan.rungs.last().unwrap().seeds, seeds);
                let more = plan.with_candidates(plan.candidates() + 1);
                assert!(more.runs() > budget, "{budget} {plan:?}");
            }
        }
        assert_eq!(Plan::within(53, 1, 27, usize::MAX), None);
        assert_eq!(Plan::within(1000, 1, 27, 1), None);
    }

    #[test]
    fn each_rung_has_a_third_of_the_settings_and_three_times_the_seeds() {
        let plan = Plan::of(28, &[1, 3, 9], 2);
        assert_eq!(rungs(&plan), [(29, 1), (11, 3), (5, 9)]);
        assert_eq!(plan.runs(), 2 * (29 + 11 * 2 + 5 * 6));
        let within = Plan::within(4000, 1, 30, usize::MAX).unwrap();
        assert_eq!(within.rungs.iter().map(|rung| rung.seeds).collect::<Vec<_>>(), [1, 3, 10, 30]);
    }

    #[test]
    fn a_space_that_the_budget_covers_needs_no_early_rungs() {
        assert_eq!(rungs(&Plan::within(1000, 1, 9, 8).unwrap()), [(8, 9)]);
        assert_eq!(rungs(&Plan::within(60, 1, 9, 8).unwrap()), [(8, 3), (4, 9)]);
    }

    #[test]
    fn the_best_survive_and_of_equals_the_first() {
        let scores = [9.0_f64, 2.0, 1.0, 2.0, 2.0, 5.0];
        let rank = |a: usize, b: usize| scores[a].total_cmp(&scores[b]);
        assert_eq!(survivors((0..6).collect(), 4, rank), [0, 2, 1, 3]);
        assert_eq!(survivors(vec![4, 3, 1], 2, rank), [0, 1]);
        assert_eq!(survivors(vec![0, 5], 9, rank), [0, 5]);
    }
}
