//! Words that follow from numbers.

use crate::experiment::{Difference, Direction};

/// What a difference comes to, as a sentence: `words` for one above and below 0. Beside it, where it is clear, its
/// share of a whole that has a name.
pub(super) fn verdict(
    difference: &Difference,
    words: [&str; 2],
    unit: &str,
    whole: Option<(f64, &str)>,
) -> String {
    let Difference { mean, low, high, over_seeds } = difference;
    let said = match difference.direction() {
        Direction::Higher => words[0],
        Direction::Lower => words[1],
        Direction::Unclear => {
            return format!(
                "No clear difference: {mean:+.2}{unit} on average (90 % confidence {low:+.2} to {high:+.2})."
            );
        }
    };
    let share = whole.map_or(String::new(), |(whole, name)| {
        format!(", which is {:.1} % {name}", 100.0 * mean.abs() / whole)
    });
    format!(
        "{said} by {:.2}{unit} on average (90 % confidence {:.2} to {:.2}){share}; between pairs of runs it goes from {:+.2} to \
         {:+.2}.",
        mean.abs(),
        low.abs().min(high.abs()),
        low.abs().max(high.abs()),
        over_seeds.p5,
        over_seeds.p95
    )
}

/// "higher under a and b, lower under c": names by their direction, each with its word of `words`, for higher, lower
/// and unclear.
pub(super) fn grouped(named: &[(Direction, String)], words: [&str; 3], preposition: &str) -> String {
    let parts = [Direction::Higher, Direction::Lower, Direction::Unclear].into_iter().zip(words);
    let parts: Vec<String> = parts
        .filter_map(|(direction, word)| {
            let of_direction = named.iter().filter(|(known, _)| *known == direction);
            let of_direction: Vec<String> = of_direction.map(|(_, name)| name.clone()).collect();
            (!of_direction.is_empty()).then(|| format!("{word} {preposition} {}", names(&of_direction)))
        })
        .collect();
    if parts.is_empty() { "not known".to_owned() } else { parts.join("; ") }
}

/// "a, b and c".
pub(in crate::cli) fn names(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Interval;

    fn difference(mean: f64, margin: f64) -> Difference {
        let over_seeds = Interval { median: mean, p5: mean - 3.0, p95: mean + 3.0 };
        Difference { mean, low: mean - margin, high: mean + margin, over_seeds }
    }

    #[test]
    fn words_follow_signs() {
        let say = |mean, margin, whole| {
            verdict(&difference(mean, margin), ["It grew", "It shrank"], " points", whole)
        };
        assert_eq!(
            say(2.0, 0.5, Some((8.0, "of the gain"))),
            "It grew by 2.00 points on average (90 % confidence 1.50 to 2.50), which is 25.0 % of the gain; between pairs of \
             runs it goes from -1.00 to +5.00."
        );
        assert_eq!(
            say(-2.0, 0.5, None),
            "It shrank by 2.00 points on average (90 % confidence 1.50 to 2.50); between pairs of runs it goes from -5.00 to \
             +1.00."
        );
        for mean in [0.4, -0.4, 0.0] {
            assert!(
                say(mean, 0.5, Some((8.0, "of the gain"))).starts_with("No clear difference: "),
                "{mean}"
            );
        }
        assert!(say(f64::NAN, 0.5, None).starts_with("No clear difference"));
    }

    #[test]
    fn names_go_by_direction() {
        let named = |directions: &[Direction]| {
            let named =
                directions.iter().zip(["a", "b", "c"]).map(|(direction, name)| (*direction, name.to_owned()));
            grouped(&named.collect::<Vec<_>>(), ["up", "down", "unclear"], "for")
        };
        use Direction::{Higher, Lower, Unclear};
        assert_eq!(named(&[Higher, Higher, Higher]), "up for a, b and c");
        assert_eq!(named(&[Lower, Higher, Lower]), "up for b; down for a and c");
        assert_eq!(named(&[Unclear]), "unclear for a");
        assert_eq!(named(&[]), "not known");
    }
}
