//! Families of workloads and their colours.

use std::collections::BTreeSet;

use plotters::style::RGBColor;

use super::legend::Key;
use super::style::{BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, YELLOW};
use crate::sim::RunRecord;

/// Families that have the same colour in every figure. Language models share one, for the palette is small.
const KNOWN: [(&str, &[&str], RGBColor); 7] = [
    ("resnet", &["resnet"], BLUE),
    ("efficientnet", &["efficientnet"], SKY),
    ("mobilenet", &["mobilenet"], GREEN),
    ("vgg", &["vgg"], VERMILLION),
    ("inception", &["inception"], ORANGE),
    ("xception", &["xception"], PURPLE),
    ("language models", &["bert", "gpt", "llama", "xlnet"], YELLOW),
];
const OTHER: (&str, RGBColor) = ("other", GREY);

/// The families of a run's jobs.
pub(super) struct Families {
    /// Name in the legend, prefixes and colour.
    entries: Vec<(String, Vec<String>, RGBColor)>,
    other: bool,
}

impl Families {
    /// Unknown families take, in the order of their names, the colours of those that the run has no jobs
    /// of; when all are taken they share one.
    pub fn of(record: &RunRecord) -> Families {
        let prefixes: BTreeSet<&str> = record.jobs.iter().map(|job| prefix(&job.workload)).collect();
        let mut entries = Vec::new();
        let mut free = Vec::new();
        for (name, members, color) in KNOWN {
            if members.iter().any(|member| prefixes.contains(member)) {
                let members = members.iter().map(|member| (*member).to_owned()).collect();
                entries.push((name.to_owned(), members, color));
            } else {
                free.push(color);
            }
        }
        free.push(BLACK);
        let known = |prefix: &str| KNOWN.iter().any(|(_, members, _)| members.contains(&prefix));
        let mut unknown = prefixes.iter().filter(|prefix| !known(prefix));
        for (color, prefix) in free.into_iter().zip(unknown.by_ref()) {
            entries.push(((*prefix).to_owned(), vec![(*prefix).to_owned()], color));
        }
        let other = unknown.next().is_some();
        Families { entries, other }
    }

    pub fn color(&self, workload: &str) -> RGBColor {
        let prefix = prefix(workload);
        let member = |members: &[String]| members.iter().any(|member| member == prefix);
        let entry = self.entries.iter().find(|(_, members, _)| member(members));
        entry.map_or(OTHER.1, |(_, _, color)| *color)
    }

    /// For the legend.
    pub fn keys(&self) -> impl Iterator<Item = (Key, String)> + '_ {
        let entries = self.entries.iter().map(|(name, _, color)| (Key::Fill(*color), name.clone()));
        entries.chain(self.other.then(|| (Key::Fill(OTHER.1), OTHER.0.to_owned())))
    }
}

/// The name up to the first `_`, without a size: `resnet` of `resnet50_imagenet`.
fn prefix(workload: &str) -> &str {
    let first = workload.split('_').next().unwrap_or(workload);
    let bare = first.trim_end_matches(|c: char| c.is_ascii_digit());
    if bare.is_empty() { first } else { bare }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn known_families_keep_their_colours_and_others_take_free_ones() {
        let mut record = fixture::record();
        record.jobs[1].workload = "zebra_x".into();
        let families = Families::of(&record);
        assert_eq!(families.color("resnet18_cifar100"), BLUE);
        assert_eq!(families.color("zebra9_x"), SKY);
        let names: Vec<String> = families.keys().map(|(_, name)| name).collect();
        assert_eq!(names, ["resnet", "zebra"]);
    }

    #[test]
    fn sizes_are_no_part_of_a_family() {
        assert_eq!(["resnet50_a", "gpt2_xl", "llama3", "7_x"].map(prefix), ["resnet", "gpt", "llama", "7"]);
    }
}
