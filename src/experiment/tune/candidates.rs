use std::collections::HashSet;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::space::SearchSpace;
use crate::experiment::sweep::{Axis, draw_below};
use crate::policy::{PARAMETERS, Params};

/// A setting of the searched parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    /// Searched parameters and their values as text, in the order of the axes.
    pub values: Vec<(String, String)>,
    pub params: Params,
}

impl Candidate {
    /// The values that searched parameters have in a set.
    pub fn defaults(space: &SearchSpace, params: &Params) -> Candidate {
        let keys = space.axes.iter().flat_map(|axis| &axis.keys);
        let values = keys.map(|key| (key.clone(), value_of(key, params))).collect();
        Candidate { values, params: params.clone() }
    }

    fn at(space: &SearchSpace, points: &[usize], defaults: &Params) -> Candidate {
        let mut candidate = Candidate { values: Vec::new(), params: defaults.clone() };
        for (axis, &point) in space.axes.iter().zip(points) {
            for (key, text) in axis.keys.iter().zip(&axis.values[point]) {
                candidate.params.set(key, text).expect("checked when the search space was read");
                candidate.values.push((key.clone(), text.clone()));
            }
        }
        candidate
    }
}

fn value_of(key: &str, params: &Params) -> String {
    PARAMETERS.iter().find(|parameter| parameter.key == key).map_or(String::new(), |p| p.value(params))
}

/// Where the defaults are on the axes, if they are on all of them.
fn point_of_defaults(space: &SearchSpace, params: &Params) -> Option<Vec<usize>> {
    let point = |axis: &Axis| {
        let values: Vec<String> = axis.keys.iter().map(|key| value_of(key, params)).collect();
        axis.values.iter().position(|point| *point == values)
    };
    space.axes.iter().map(point).collect()
}

/// How many settings a search can choose from, the defaults among them; saturating.
pub(super) fn settings_with_defaults(space: &SearchSpace, defaults: &Params) -> usize {
    space.settings().saturating_add(usize::from(point_of_defaults(space, defaults).is_none()))
}

/// At most `count` different settings beside the defaults, evenly drawn; the same for the same seed.
pub(super) fn draw(space: &SearchSpace, defaults: &Params, count: usize, seed: u64) -> Vec<Candidate> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sizes: Vec<usize> = space.axes.iter().map(|axis| axis.values.len()).collect();
    let default = point_of_defaults(space, defaults);
    let others = settings_with_defaults(space, defaults) - 1;
    let points: Vec<Vec<usize>> = if others / 2 < count {
        // Most of a small space: shuffled, as drawing until the last ones come would take long.
        let mut all: Vec<Vec<usize>> = (0..space.settings()).map(|index| digits(index, &sizes)).collect();
        all.retain(|points| Some(points) != default.as_ref());
        for i in 0..count.min(all.len()) {
            let from = i + draw_below(&mut rng, all.len() - i);
            all.swap(i, from);
        }
        all.truncate(count);
        all
    } else {
        let mut known: HashSet<Vec<usize>> = default.into_iter().collect();
        let mut drawn = Vec::with_capacity(count);
        while drawn.len() < count {
            let points: Vec<usize> = sizes.iter().map(|&size| draw_below(&mut rng, size)).collect();
            if known.insert(points.clone()) {
                drawn.push(points);
            }
        }
        drawn
    };
    points.iter().map(|points| Candidate::at(space, points, defaults)).collect()
}

/// The points of a setting by its number, the last axis fastest.
fn digits(index: usize, sizes: &[usize]) -> Vec<usize> {
    let mut rest = index;
    let mut points: Vec<usize> = sizes
        .iter()
        .rev()
        .map(|size| {
            let point = rest % size;
            rest /= size;
            point
        })
        .collect();
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Settings;
    use crate::policy::PolicyKind;

    fn defaults() -> Params {
        Settings::default().params(&PolicyKind::Aegis.into()).unwrap()
    }

    #[test]
    fn candidates_are_different_from_each_other_and_from_the_defaults() {
        let mut space = SearchSpace::builtin();
        let default = Candidate::defaults(&space, &defaults());
        assert_eq!(default.values[0], ("observation_window_s".to_owned(), "30".to_owned()));
        let drawn = draw(&space, &defaults(), 500, 1);
        let distinct: HashSet<_> = drawn.iter().map(|candidate| candidate.values.clone()).collect();
        assert!(distinct.len() == 500 && !distinct.contains(&default.values));
        assert_eq!(draw(&space, &defaults(), 500, 1), drawn);
        assert_ne!(draw(&space, &defaults(), 500, 2), drawn);
        space.axes.retain(|axis| ["placement", "recovery"].contains(&axis.name.as_str()));
        for count in [3, 7, 100] {
            let drawn = draw(&space, &defaults(), count, 1);
            let distinct: HashSet<_> = drawn.iter().map(|candidate| candidate.values.clone()).collect();
            let default = Candidate::defaults(&space, &defaults()).values;
            assert!(
                distinct.len() == count.min(7) && drawn.len() == count.min(7) && !distinct.contains(&default)
            );
        }
    }

    #[test]
    fn defaults_off_the_axes_are_one_setting_more() {
        let mut space = SearchSpace::builtin();
        space.axes.truncate(1);
        assert_eq!(settings_with_defaults(&space, &defaults()), 13);
        let between = Params { observation_window_s: 33.0, ..defaults() };
        assert_eq!(settings_with_defaults(&space, &between), 14);
        assert_eq!(draw(&space, &between, 99, 1).len(), 13);
    }
}
